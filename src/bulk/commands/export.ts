import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, forceFlag, latestRunArg, textFlag } from '../../cli/flags.ts';
import { outputTable } from '../../cli/output-table.ts';
import type { Context } from '../../cli/session/context.ts';
import { digest } from '../../kernel/digest.ts';
import { counted } from '../../kernel/duration.ts';
import { type EsignError, PartialError } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { isRecord } from '../../kernel/json.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { jsonText, writeJsonArray } from '../../output/json.ts';
import { writeList } from '../../output/print-list.ts';
import { type RowResult, resultAsJson } from '../../runs/results.ts';
import { rowKeysOf } from '../../runs/row-keys.ts';
import { readResults } from '../../runs/run-list.ts';
import { readRun } from '../../runs/runs.ts';
import { resolveRunId } from '../../selection/selected-run.ts';
import { cellsOf, NO_RESULT, type ResultCells } from '../rewrite/result-columns.ts';
import { openSource, type SourceFile } from '../rewrite/source-file.ts';
import { bodyFields } from '../rows/check-row.ts';
import { lineRanges } from '../rows/findings.ts';
import type { SignerLine } from '../status/signer-lines.ts';
import { resultList } from './result-table.ts';
import { checkRowsFile, openRowsSource, type RowsFileFlags, rowWriter } from './rows-file.ts';
import { statusOfRun } from './status.ts';

export default class BulkExport extends EsignCommand {
  static override summary = 'Export the results of a run, on their own or as columns added to your file.';
  static override description =
    'With --into, writes your source file with the columns esign_row_status, esign_envelope_id, esign_signed_at, esign_waiting_for, and esign_error: as a workbook or CSV, by the name of OUT, or as CSV to stdout. Cells, columns, and their order stay the same, and your file is not changed. Rows are matched by their content, so you can sort the file and add columns. A replaced envelope is shown as its replacement. A row without a match gets empty cells, and the exit code is 10.';
  static override examples = [
    '<%= config.bin %> bulk export --into people.xlsx -o status.xlsx',
    '<%= config.bin %> bulk export run-20261121-093012345-4f2a',
    '<%= config.bin %> bulk export > results.csv',
    '<%= config.bin %> bulk export --into people.csv --failed -o fix-these.csv',
    '<%= config.bin %> bulk export --json | jq -r ".[] | select(.ok) | .envelopeId"',
  ];
  static override args = latestRunArg;
  static override flags = {
    into: textFlag('FILE', "the run's source file, printed with the results added; `-` for stdin", {
      exclusive: ['json'],
    }),
    output: textFlag(
      'OUT',
      'file to write instead of stdout: a workbook (.xlsx), or CSV for spreadsheet programs (.csv)',
      {
        char: 'o',
        exclusive: ['json'],
      },
    ),
    force: forceFlag(),
    failed: booleanFlag('only rows without an envelope', { default: false }),
  };

  async run(): Promise<void> {
    const { args, flags, context, terminal } = await this.start(BulkExport);
    const { into, failed } = flags;
    checkRowsFile(flags, into);
    const id = await resolveRunId(args.run, context, 'notice');
    if (into !== undefined) return exportInto({ id, into, failed, to: flags }, context);
    const results = resultsOfRun(id, failed);
    const out = terminal.hidingSecrets();
    if (terminal.json) await writeJsonArray(results, (result) => jsonText(resultAsJson(result), 2), out);
    else await writeList(results, resultList, { csv: true, table: outputTable(flags, terminal) }, out);
  }
}

async function* resultsOfRun(id: string, failed: boolean): AsyncGenerator<RowResult, void, undefined> {
  for await (const result of readResults(runsDir(), id))
    if (!failed || result.envelopeId === null) yield result;
}

/** The source file of a run, which rows of it are written, and where. */
interface IntoRequest {
  id: string;
  into: string;
  failed: boolean;
  to: RowsFileFlags;
}

/**
 * Writes the source file of a run with its results.
 * @throws PartialError when rows of the file match none of the run.
 */
async function exportInto(request: IntoRequest, context: Context): Promise<void> {
  preferLowMemory();
  const { id, into } = request;
  const state = await readRun(runsDir(), id);
  const rows = await rowsByCells(runsDir(), id);
  const before = state.head.source;
  const file = await openSource(openRowsSource(into), { hasFlags: false, before, sent: before.columns });
  const results = await resultsByRow((await statusOfRun(id, context)).lines);
  const { unmatched, total } = await writeRows(file, { rows, results }, request, context);
  if (unmatched.length > 0) throw unmatchedError(unmatched, total, request);
}

/** What a run knows about the rows of its source file: their numbers by their cells, and the results by number. */
interface RunResults {
  rows: ReadonlyMap<string, number>;
  results: ReadonlyMap<number, ResultCells>;
}

/** Returns the lines of the rows that match none of the run, and the number of all rows. */
async function writeRows(
  file: SourceFile,
  { rows, results }: RunResults,
  { failed, to }: IntoRequest,
  { terminal }: Context,
): Promise<{ unmatched: number[]; total: number }> {
  const writer = rowWriter(file, to, terminal);
  const unmatched: number[] = [];
  let [total, written] = [0, 0];
  for await (const part of file.parts) {
    if ('header' in part) {
      await writer.write(part.header(true));
      continue;
    }
    total++;
    const row = findRow(rows, part.value);
    if (row === undefined) unmatched.push(part.line);
    const cells = (row === undefined ? undefined : results.get(row)) ?? NO_RESULT;
    const hasFailed = row !== undefined && cells.esign_envelope_id === '';
    if (failed && !hasFailed) continue;
    written++;
    await writer.write(part.rewritten(cells));
  }
  // A file in which no row has a result could be mistaken for the results.
  const isOtherList = total > 0 && unmatched.length === total;
  if (!isOtherList || to.output === undefined) await writer.end(written);
  return { unmatched, total };
}

const MAX_RANGES = 20;

function unmatchedError(lines: readonly number[], total: number, { id, into, to }: IntoRequest): EsignError {
  const name = into === '-' ? 'stdin' : into;
  const list = 'To list the runs, run `esign bulk list`.';
  if (lines.length === total) {
    const file = to.output === undefined ? '' : ` ${to.output} was not written.`;
    return new PartialError(`No row in ${name} matches a row in ${id}.${file}`, {
      run: id,
      hint: `The rows belong to another run, or were changed after it. ${list}`,
    });
  }
  const [match, where] = lines.length === 1 ? ["doesn't match", 'line'] : ["don't match", 'lines'];
  const places = `${where} ${lineRanges(lines, MAX_RANGES)}`;
  return new PartialError(
    `${counted(lines.length, 'row')} in ${name} ${match} any row in ${id}: ${places}.`,
    {
      run: id,
      hint: `They were added or changed after the run, or belong to another run. ${list}`,
    },
  );
}

/** Returns the result cells of each row of a run. */
async function resultsByRow(lines: AsyncIterable<SignerLine>): Promise<Map<number, ResultCells>> {
  const results = new Map<number, ResultCells>();
  let current: SignerLine[] = [];
  const finish = () => {
    const row = current[0]?.row;
    if (typeof row === 'number') results.set(row, cellsOf(current));
    current = [];
  };
  for await (const line of lines) {
    if (line.row !== current[0]?.row) finish();
    current.push(line);
  }
  finish();
  return results;
}

/** Returns the numbers of a run's rows by their cells, so that a row is found wherever it is in the file. */
async function rowsByCells(root: string, id: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for await (const entry of rowKeysOf(root, id)) {
    if (entry.type !== 'rows') continue;
    for (const [index, [, , cells]] of entry.rows.entries()) found.set(cells, entry.from + index);
  }
  return found;
}

/** Returns the number of the row in the run, or undefined if the run did not send it or it was changed since. */
function findRow(rows: ReadonlyMap<string, number>, value: unknown): number | undefined {
  return isRecord(value) ? rows.get(digest(bodyFields(value))) : undefined;
}
