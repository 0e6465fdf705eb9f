import type { Envelope } from '../../../api/resource-types.ts';
import { runOf } from '../../../catalog/markers.ts';
import type { Selection } from '../../../catalog/selection.ts';
import { type ParsedIds, readIds } from '../../../cli/input/ids.ts';
import type { Context } from '../../../cli/session/context.ts';
import { counted, grouped, listed } from '../../../kernel/duration.ts';
import { UsageError } from '../../../kernel/errors.ts';
import type { DocumentedStatus } from '../../../kernel/statuses.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { readSelected } from '../../../selection/select-envelopes.ts';
import { ownEnvelopesOf, selectedRun } from '../../../selection/selected-run.ts';

/** The envelopes on which a command acts. */
export interface TargetEnvelopes extends ParsedIds {
  /** The selected envelopes by ID, as they are now. Undefined if envelopes were given by ID. */
  selected: ReadonlyMap<string, Envelope> | undefined;
}

/** The flags that name envelopes instead of IDs. */
export interface TargetFlags {
  /** A run's ID, or `last`. */
  run?: string | undefined;
  all?: boolean | undefined;
}

/** How a selection is narrowed to what the action applies to. */
interface Narrowing {
  leaveOut: FindSkipReasons;
  /** With `--all`, envelopes with one of these statuses. */
  all?: readonly DocumentedStatus[] | undefined;
  /** Only what the run created or sent itself, not the other envelopes of its list. */
  own?: boolean;
}

/** Returns why envelopes of a selection are left out, by ID. For example, `COMPLETED`. */
export type FindSkipReasons = (envelopes: readonly Envelope[]) => ReadonlyMap<string, string>;

/**
 * Reads the envelopes on which a command acts: IDs, `-` for IDs on stdin, those of a run, or, with `--all`, those with one of the
 * statuses. From a run, envelopes to which the action doesn't apply are left out. A notice shows how many, even if none is left.
 * With `own`, another one shows how many belong to other runs or commands.
 * @throws UsageError unless exactly one of them is given.
 */
export async function readNamedOrSelected(
  words: readonly string[],
  flags: TargetFlags,
  { leaveOut, all, own = false }: Narrowing,
  context: Context,
): Promise<TargetEnvelopes> {
  refuseMixed(words, flags, all !== undefined);
  const { terminal } = context;
  if (words.length > 0) return { ...(await readIds(words, 'envelope ID', terminal)), selected: undefined };
  const found = await findSelected(flags.run, { all, own }, context);
  const reasons = leaveOut([...found.values()]);
  if (found.size === 0) terminal.notice('There are no such envelopes. Nothing was done.');
  else if (reasons.size > 0) terminal.notice(leftOutText(found.size, reasons));
  const selected = new Map([...found].filter(([id]) => !reasons.has(id)));
  return { ids: [...selected.keys()], stream: true, fromStdin: false, selected };
}

async function findSelected(
  run: string | undefined,
  { all, own }: Pick<Narrowing, 'all' | 'own'>,
  context: Context,
): Promise<Map<string, Envelope>> {
  if (run === undefined) return read({ statuses: all }, context);
  if (!own) return read({ run: await selectedRun(run, context) }, context);
  const { run: selected, isOwn } = await ownEnvelopesOf(run, context);
  const found = await read({ run: selected }, context);
  const others = [...found.values()].filter((one) => !isOwn(one));
  if (others.length > 0) context.terminal.notice(othersText(selected.id, found.size, others));
  return new Map([...found].filter(([, one]) => isOwn(one)));
}

async function read(selection: Selection, context: Context): Promise<Map<string, Envelope>> {
  const { envelopes } = await readSelected(selection, context);
  const found = new Map<string, Envelope>();
  for await (const one of envelopes) found.set(one.id, one);
  return found;
}

/** Returns how many envelopes of a run's list it didn't create, and which run did if it is only one. */
function othersText(run: string, all: number, others: readonly Envelope[]): string {
  const runs = [...new Set(others.map(runOf))];
  const [first] = runs;
  const whose = runs.length === 1 && first !== undefined && first !== run ? first : 'other runs or commands';
  const belong = others.length === 1 ? 'belongs' : 'belong';
  return `${grouped(others.length)} of the ${counted(all, 'envelope')} of this list ${belong} to ${whose}, and ${others.length === 1 ? 'is' : 'are'} left alone. To see all of them: \`${command('bulk', 'status', run, '--all')}\`.`;
}

/** @throws UsageError unless envelopes are given in exactly one way: by ID, on stdin, by run, or with `--all`. */
function refuseMixed(words: readonly string[], { run, all }: TargetFlags, hasAll: boolean): void {
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
