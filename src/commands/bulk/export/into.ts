import { type IntoCells, NO_RESULT } from '../../../bulk/rewrite/result-columns.ts';
import { resultsByRow } from '../../../bulk/rewrite/row-results.ts';
import { RunRows } from '../../../bulk/rewrite/run-rows.ts';
import { openRewritable, type RewritableFile } from '../../../bulk/rewrite/source-file.ts';
import { readRun } from '../../../bulk/runs.ts';
import type { Context } from '../../../cli/context.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { counted } from '../../../kernel/duration.ts';
import { PartialError, UsageError } from '../../../kernel/errors.ts';
import { runsDir } from '../../../kernel/files/paths.ts';
import { preferLowMemory } from '../../../kernel/process/v8-flags.ts';
import { safeLine } from '../../../output/text.ts';
import { localDelimiter } from '../flags.ts';
import { PartWriter, sourceOf } from '../source.ts';
import { statusOfRun } from '../status/command.ts';

interface IntoFlags {
  id: string;
  into: string;
  failed: boolean;
  encoding?: string | undefined;
  sheet?: string | undefined;
  delimiter?: string | undefined;
}

/**
 * Prints the source file of a run with its results.
 * @throws PartialError when rows of the file match none of the run.
 */
export async function exportInto(flags: IntoFlags, context: Context): Promise<void> {
  preferLowMemory();
  const { id } = flags;
  const state = await readRun(runsDir(), id);
  const rows = await RunRows.read(runsDir(), id);
  if (!rows.isKnown)
    throw new UsageError(`${id} was started by an earlier version of esign, so its rows can't be matched.`, {
      hint: 'To print its results by row number, run `esign bulk export --csv`.',
    });
  const source = sourceOf(flags.into);
  const before = state.head.source;
  const file = await openRewritable(source, {
    ...flags,
    delimiter: flags.delimiter ?? localDelimiter(),
    before,
    sent: before?.columns,
  });
  const results = await resultsByRow(await statusOfRun(id, context));
  const unmatched = await writeParts({ file, rows, results, name: source.name }, flags, context.terminal);
  reportReplaced(file.replaced(), source.name, context.terminal);
  if (unmatched === 0) return;
  throw new PartialError(
    `${counted(unmatched, 'row')} in ${source.name} ${unmatched === 1 ? "doesn't" : "don't"} match any row in ${id}.`,
    {
      hint: 'They were added or changed after the run, or belong to another run. To list the runs, run `esign bulk list`.',
    },
  );
}

/** Reports each row of the file that matches none of the run, and returns their number. */
async function writeParts(
  {
    file,
    rows,
    results,
    name,
  }: { file: RewritableFile; rows: RunRows; results: ReadonlyMap<number, IntoCells>; name: string },
  { id, failed }: IntoFlags,
  terminal: CommandTerminal,
): Promise<number> {
  const writer = new PartWriter(terminal);
  let unmatched = 0;
  for await (const part of file.parts) {
    const row = part.row === undefined ? undefined : rows.find(part.row.value);
    if (part.row !== undefined && row === undefined) {
      unmatched++;
      terminal.err(`${safeLine(`${name}:${part.line}: doesn't match any row in ${id}.`)}\n`);
    }
    const cells = (row === undefined ? undefined : results.get(row)) ?? NO_RESULT;
    const hasFailed = row !== undefined && cells.esign_envelope_id === '';
    if (!failed || part.row === undefined || hasFailed) await writer.write(part.bytesWith(cells));
  }
  await writer.end();
  return unmatched;
}

function reportReplaced(count: number, name: string, terminal: CommandTerminal): void {
  if (count === 0) return;
  const were = count === 1 ? 'was' : 'were';
  terminal.notice(
    `${counted(count, 'character')} can't be represented in ${name}'s encoding and ${were} replaced.`,
  );
}
