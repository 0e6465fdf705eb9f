import * as Flags from '@oclif/core/flags';
import { UsageError } from '../../kernel/errors.ts';
import type { GroupBy } from '../../statistics/groups.ts';

const KINDS = ['template', 'role', 'month', 'week', 'run'] as const;
const META = 'meta.';

/** The grouping of a report: `template` or `meta.department`, for example. */
export const groupByFlag = Flags.custom<GroupBy>({
  parse: (text) => Promise.resolve(readGroupBy(text)),
});

function readGroupBy(text: string): GroupBy {
  if (text.startsWith(META) && text.length > META.length)
    return { kind: 'meta', metadataKey: text.slice(META.length) };
  const kind = KINDS.find((known) => known === text);
  if (kind !== undefined) return { kind };
  throw new UsageError(`Can't group by "${text}".`, {
    hint: `Use ${KINDS.join(', ')}, or meta.KEY.`,
  });
}
