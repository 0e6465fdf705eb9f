import type { Envelope } from '../../../api/schemas.ts';
import { selectedRun } from '../../../bulk/commands/selected-run.ts';
import { select } from '../../../catalog/commands/select-envelopes.ts';
import { type Ids, readIds } from '../../../cli/input/ids.ts';
import { counted, listed } from '../../../kernel/duration.ts';
import { UsageError } from '../../../kernel/errors.ts';
import type { EnvelopeStatus } from '../../../kernel/vocabulary.ts';
import type { Context } from '../../../session/context.ts';

/** The envelopes on which a command acts. */
export interface Targets extends Ids {
  /** The selected envelopes by ID, as they are now. Undefined if envelopes were given by ID. */
  selected: ReadonlyMap<string, Envelope> | undefined;
}

/** The flags that name envelopes instead of IDs. */
export interface NamingFlags {
  /** A run's ID, or `last`. */
  run?: string | undefined;
  all?: boolean | undefined;
}

/** Returns why envelopes of a selection are left out, by ID. For example, `COMPLETED`. */
export type FindSkipReasons = (envelopes: readonly Envelope[]) => ReadonlyMap<string, string>;

/**
 * Reads the envelopes on which a command acts: IDs, `-` for IDs on stdin, those of a run, or, with `--all`, those with one of the
 * statuses. From a run, envelopes to which the action doesn't apply are left out. A notice shows how many, even if none is left.
 * @throws UsageError unless exactly one of them is given.
 */
export async function readNamedOrSelected(
  words: readonly string[],
  flags: NamingFlags,
  { leaveOut, all }: { leaveOut: FindSkipReasons; all?: readonly EnvelopeStatus[] },
  context: Context,
): Promise<Targets> {
  refuseMixed(words, flags, all !== undefined);
  const { terminal } = context;
  if (words.length > 0) return { ...(await readIds(words, 'envelope ID', terminal)), selected: undefined };
  const selection =
    flags.run === undefined ? { statuses: all } : { run: await selectedRun(flags.run, context) };
  const { envelopes } = await select(selection, context);
  const found = new Map<string, Envelope>();
  for await (const one of envelopes) found.set(one.id, one);
  const reasons = leaveOut([...found.values()]);
  if (found.size === 0) terminal.notice('There are no such envelopes. Nothing was done.');
  else if (reasons.size > 0) terminal.notice(leftOutText(found.size, reasons));
  const selected = new Map([...found].filter(([id]) => !reasons.has(id)));
  return { ids: [...selected.keys()], stream: true, fromStdin: false, selected };
}

/** @throws UsageError unless envelopes are given in exactly one way: by ID, on stdin, by run, or with `--all`. */
function refuseMixed(words: readonly string[], { run, all }: NamingFlags, hasAll: boolean): void {
  const ways = [words.includes('-'), words.some((word) => word !== '-'), run !== undefined, all === true];
  const count = ways.filter(Boolean).length;
  if (count === 1) return;
  throw new UsageError(
    count === 0
      ? 'No envelopes specified.'
      : `Envelope IDs, \`-\` (stdin), ${hasAll ? '--run, and --all' : 'and --run'} can't be used together.`,
    {
      hint: `Pass envelope IDs, \`-\` to read them from stdin, ${hasAll ? '--run RUN, or --all' : 'or --run RUN'}. To find IDs, run \`esign envelopes list\`; with -q, it prints them for a pipe.`,
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
