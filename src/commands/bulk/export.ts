import * as Flags from '@oclif/core/flags';
import { type IntoCells, NO_RESULT } from '../../bulk/rewrite/result-columns.ts';
import { resultsByRow } from '../../bulk/rewrite/row-results.ts';
import { RunRows } from '../../bulk/rewrite/run-rows.ts';
import { openRewritable, type RewritableFile } from '../../bulk/rewrite/source-file.ts';
import { readResults } from '../../bulk/run-list.ts';
import { readRun } from '../../bulk/runs.ts';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { latestRunArg, readFlags } from '../../cli/flags.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { PartialError, UsageError } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { writeJsonLine } from '../../output/json.ts';
import { writeList } from '../../output/list.ts';
import { safeLine } from '../../output/text.ts';
import type { ReadOptions } from '../../tables/table-file.ts';
import { delimiterFlag, localDelimiter } from './flags.ts';
import { namedRun } from './run.ts';
import { PartWriter, sourceOf } from './source.ts';
import { statusOfRun } from './status/command.ts';
import { resultList } from './view.ts';

export default class BulkExport extends EsignCommand {
  static override summary = 'Export the results of a run, on their own or as columns added to your file.';
  static override description =
    'With --into, prints your source file with the columns esign_row_status, esign_envelope_id, esign_signed_at, esign_waiting_for, and esign_error. Everything else stays the same, and your file is not changed. Rows are matched by their content, so you can sort the file and add columns. A row without a match gets empty cells, and the exit code is 10. An .xlsx file becomes CSV in UTF-8.';
  static override examples = [
    '<%= config.bin %> bulk export --last > results.csv',
    '<%= config.bin %> bulk export run-20261121-093012345-4f2a --csv',
    '<%= config.bin %> bulk export --last --into people.csv > people-results.csv',
    '<%= config.bin %> bulk export --last --into people.csv --failed > fix-these.csv',
    '<%= config.bin %> bulk export --last --json | jq -r "select(.ok) | .envelopeId"',
  ];
  static override args = latestRunArg;
  static override flags = {
    last: Flags.boolean({ description: 'the latest run' }),
    csv: Flags.boolean({ description: 'print CSV (default)', exclusive: ['json'] }),
    into: Flags.string({
      description: "the run's source file, printed with the results added; `-` for stdin",
      helpValue: 'FILE',
      exclusive: ['json', 'csv'],
    }),
    failed: Flags.boolean({
      description: 'with --into, print only rows without an envelope',
      dependsOn: ['into'],
    }),
    ...readFlags,
    delimiter: delimiterFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkExport);
    const context = this.context(flags);
    const id = await namedRun(args.run, flags.last, { orLast: true });
    const { into } = flags;
    if (into !== undefined) return exportInto({ ...flags, id, into }, context);
    const results = readResults(runsDir(), id);
    const out = context.terminal.hidingSecrets();
    if (!context.terminal.json) return writeList(results, resultList, { csv: true }, out);
    for await (const result of results) await writeJsonLine(result, out);
  }
}

/**
 * Prints the source file of a run with its results.
 * @throws PartialError when rows of the file match none of the run.
 */
async function exportInto(
  flags: { id: string; into: string; failed: boolean; delimiter?: string | undefined } & ReadOptions,
  context: Context,
): Promise<void> {
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
  { id, failed }: { id: string; failed: boolean },
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
