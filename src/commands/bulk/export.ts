import { rowKeysOf } from '../../bulk/lookup/earlier-rows.ts';
import { cellsHash } from '../../bulk/lookup/row-key.ts';
import { errorInWords } from '../../bulk/results.ts';
import { type IntoCells, NO_RESULT } from '../../bulk/rewrite/result-columns.ts';
import { openRewritable, type RewritableFile } from '../../bulk/rewrite/source-file.ts';
import { bodyFields } from '../../bulk/rows/row.ts';
import { readResults } from '../../bulk/run-list.ts';
import { readRun } from '../../bulk/runs.ts';
import type { StatusLine } from '../../bulk/status/run-status.ts';
import { rowStateOf } from '../../bulk/status/signer-states.ts';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { booleanFlag, latestRunArg, readFlags, textFlag } from '../../cli/flags.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { PartialError, UsageError } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { isRecord } from '../../kernel/json.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { writeJsonLine } from '../../output/json.ts';
import { writeList } from '../../output/list.ts';
import { safeLine } from '../../output/text.ts';
import type { ReadOptions } from '../../tables/table-file.ts';
import { delimiterFlag, localDelimiter } from './flags.ts';
import { namedRun } from './run.ts';
import { partWriter, sourceOf } from './source.ts';
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
    last: booleanFlag('the latest run'),
    csv: booleanFlag('print CSV (default)', { exclusive: ['json'] }),
    into: textFlag('FILE', "the run's source file, printed with the results added; `-` for stdin", {
      exclusive: ['json', 'csv'],
    }),
    failed: booleanFlag('with --into, print only rows without an envelope', { dependsOn: ['into'] }),
    ...readFlags,
    delimiter: delimiterFlag,
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(BulkExport);
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
  const rows = await rowsByCells(runsDir(), id);
  if (rows.size === 0)
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
  parts: {
    file: RewritableFile;
    rows: ReadonlyMap<string, number>;
    results: ReadonlyMap<number, IntoCells>;
    name: string;
  },
  { id, failed }: { id: string; failed: boolean },
  terminal: CommandTerminal,
): Promise<number> {
  const { file, rows, results, name } = parts;
  const writer = partWriter(terminal);
  let unmatched = 0;
  for await (const part of file.parts) {
    const row = part.row === undefined ? undefined : findRow(rows, part.row.value);
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

/** Returns the result cells of each row of a run. */
async function resultsByRow(lines: AsyncIterable<StatusLine>): Promise<Map<number, IntoCells>> {
  const results = new Map<number, IntoCells>();
  let current: StatusLine[] = [];
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

/** Returns the result cells of a row: those of its envelope, and the ID of its replacement. */
function cellsOf(lines: readonly StatusLine[]): IntoCells {
  const [first] = lines;
  const own = lines.filter(({ envelopeId }) => envelopeId === first?.envelopeId);
  const isSigned = own.every(({ state }) => state === 'signed');
  const replacedBy = own.find((line) => line.replacedBy !== undefined)?.replacedBy;
  return {
    ...NO_RESULT,
    esign_row_status: rowStateOf(own.map(({ state }) => state)) ?? '',
    esign_envelope_id: first?.envelopeId ?? '',
    esign_signed_at: isSigned
      ? (own
          .map(({ signedAt }) => signedAt ?? '')
          .toSorted()
          .at(-1) ?? '')
      : '',
    esign_waiting_for: own
      .filter(({ state }) => state === 'waiting')
      .map(({ name, email }) => name ?? email ?? '')
      .join('; '),
    esign_error: replacedBy === undefined ? errorInWords(first?.error ?? null) : `Replaced by ${replacedBy}`,
  };
}

/**
 * Returns the numbers of a run's rows by their cells, so that a row is found wherever it is in the file. Empty for a run of an earlier
 * version, which did not store its row keys.
 */
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
  return isRecord(value) ? rows.get(cellsHash(bodyFields(value))) : undefined;
}
