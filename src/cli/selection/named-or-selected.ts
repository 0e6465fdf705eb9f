import type { Envelope } from '../../api/schemas.ts';
import { counted, listed } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';
import { type Ids, readIds } from '../input/ids.ts';
import { isSelecting, type SelectionFlagValues, selectionOf } from './flags.ts';
import { select } from './search.ts';

export interface NamedOrSelected {
  ids: Ids;
  /** The selected envelopes by ID, as they are now. Undefined if envelopes were given by ID. */
  selected: ReadonlyMap<string, Envelope> | undefined;
}

/** Returns why envelopes of a selection are left out, by ID. For example, `COMPLETED`. */
export type FindSkipReasons = (envelopes: readonly Envelope[]) => ReadonlyMap<string, string>;

/**
 * Reads the envelopes on which a command acts: IDs, `-` for IDs on stdin, or selection flags. From a selection, envelopes to which
 * the action doesn't apply are left out. A notice shows how many, even if none is left.
 * @throws UsageError unless exactly one of the three is given.
 */
export async function readNamedOrSelected(
  words: readonly string[],
  flags: SelectionFlagValues,
  leaveOut: FindSkipReasons,
  context: Context,
): Promise<NamedOrSelected> {
  refuseMixedSelection(words, flags);
  const { terminal } = context;
  if (words.length > 0) return { ids: await readIds(words, 'envelope ID', terminal), selected: undefined };
  const { envelopes } = await select(await selectionOf(flags, context), context);
  const found = new Map<string, Envelope>();
  for await (const one of envelopes) found.set(one.id, one);
  const reasons = leaveOut([...found.values()]);
  if (found.size === 0) terminal.notice('No envelopes match. Nothing was done.');
  else if (reasons.size > 0) terminal.notice(leftOutText(found.size, reasons));
  const selected = new Map([...found].filter(([id]) => !reasons.has(id)));
  return { ids: { ids: [...selected.keys()], stream: true, fromStdin: false }, selected };
}

/** @throws UsageError unless envelopes are given in exactly one way: by ID, on stdin, or by selection flags. */
export function refuseMixedSelection(words: readonly string[], flags: SelectionFlagValues): void {
  const isStdin = words.includes('-');
  const ways = [isStdin, words.some((word) => word !== '-'), isSelecting(flags)].filter(Boolean);
  if (ways.length === 1) return;
  throw new UsageError(
    ways.length === 0
      ? 'No envelopes specified.'
      : "Envelope IDs, `-` (stdin), and filter flags can't be used together.",
    {
      hint: 'Pass envelope IDs, `-` to read them from stdin, or filters such as --run last or --status SENT.',
    },
  );
}

function leftOutText(all: number, reasons: ReadonlyMap<string, string>): string {
  const counts = new Map<string, number>();
  for (const reason of reasons.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`);
  const nothing = reasons.size === all ? ' Nothing was done.' : '';
  return `Skipped ${reasons.size} of ${counted(all, 'envelope')}: ${listed(parts)}.${nothing}`;
}
