import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, latestRunArg, textFlag } from '../../cli/flags.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { PartialError, UsageError } from '../../kernel/errors.ts';
import { writeReason } from '../../kernel/files/disk-reason.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { replaceFile } from '../../kernel/files/replace-file.ts';
import { isRecord } from '../../kernel/json.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { digest } from '../../log/keys.ts';
import { jsonText, writeJsonArray } from '../../output/json.ts';
import { writeList } from '../../output/print-list.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import type { Context } from '../../session/context.ts';
import { rowKeysOf } from '../remembered-rows.ts';
import { errorInWords, type RowResult, resultAsJson } from '../results.ts';
import { type IntoCells, NO_RESULT } from '../rewrite/result-columns.ts';
import { openSource, type SourceFile } from '../rewrite/source-file.ts';
import { bodyFields } from '../rows/row.ts';
import { readResults } from '../run-list.ts';
import { readRun } from '../runs.ts';
import type { StatusLine } from '../status/run-status.ts';
import { rowStateOf } from '../status/signer-states.ts';
import { localDelimiter } from './bulk-flags.ts';
import { resultList } from './row-text.ts';
import { bufferedWriter, sourceOf } from './rows-file.ts';
import { resolveRunId } from './selected-run.ts';
import { statusOfRun } from './status.ts';

export default class BulkExport extends EsignCommand {
  static override summary = 'Export the results of a run, on their own or as columns added to your file.';
  static override description =
    'With --into, prints your source file as CSV in UTF-8 with the columns esign_row_status, esign_envelope_id, esign_signed_at, esign_waiting_for, and esign_error. Cells, columns, and their order stay the same, and your file is not changed. Rows are matched by their content, so you can sort the file and add columns. A row without a match gets empty cells, and the exit code is 10.';
  static override examples = [
    '<%= config.bin %> bulk export --into people.csv -o status.csv',
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
    output: textFlag('OUT', 'file to write instead of stdout', { char: 'o' }),
    failed: booleanFlag('only rows without an envelope', { default: false }),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(BulkExport);
    const id = await resolveRunId(args.run);
    const { into, failed, output } = flags;
    const out = outputOf(output, context.terminal);
    if (into !== undefined) await exportInto({ failed, id, into, out }, context);
    else {
      const results = resultsOfRun({ id, failed, out });
      if (context.terminal.json)
        await writeJsonArray(results, (result) => jsonText(resultAsJson(result), 2), out.terminal);
      else await writeList(results, resultList, { csv: true }, out.terminal);
      out.end();
    }
  }
}

/** Where the export goes: to stdout, or to a file that is replaced once everything is known. */
interface Output {
  terminal: Terminal;
  /** The number of rows written so far. */
  rows: number;
  end(): void;
}

function outputOf(path: string | undefined, terminal: CommandTerminal): Output {
  const out = terminal.hidingSecrets();
  if (path === undefined || path === '-') return { terminal: out, rows: 0, end: () => undefined };
  const parts: string[] = [];
  const collect = (text: string | Uint8Array) => {
    parts.push(terminal.redactor.redact(String(text)));
    return Promise.resolve();
  };
  return {
    rows: 0,
    terminal: { ...out, outIsTty: false, columns: Number.POSITIVE_INFINITY, out: collect },
    end() {
      try {
        replaceFile(path, parts.join(''));
      } catch (error) {
        throw new UsageError(`Can't write ${path}: ${writeReason(error)}.`, {
          cause: error,
          hint: 'Choose a different path.',
        });
      }
      terminal.notice(`Created ${path}, ${counted(this.rows, 'row')}.`);
    },
  };
}

async function* resultsOfRun(wanted: {
  id: string;
  failed: boolean;
  out: Output;
}): AsyncGenerator<RowResult, void, undefined> {
  const { id, failed, out } = wanted;
  for await (const result of readResults(runsDir(), id)) {
    if (failed && result.envelopeId !== null) continue;
    out.rows++;
    yield result;
  }
}

/**
 * Prints the source file of a run with its results.
 * @throws PartialError when rows of the file match none of the run.
 */
async function exportInto(
  { id, into, failed, out }: { id: string; into: string; failed: boolean; out: Output },
  context: Context,
): Promise<void> {
  preferLowMemory();
  const state = await readRun(runsDir(), id);
  const rows = await rowsByCells(runsDir(), id);
  const source = sourceOf(into);
  const before = state.head.source;
  const options = { hasFlags: false, sheetDelimiter: localDelimiter(), before, sent: before.columns };
  const file = await openSource(source, options);
  const results = await resultsByRow((await statusOfRun(id, context)).lines);
  const unmatched = await writeParts(
    { file, rows, results, name: source.name },
    { id, failed, out },
    context,
  );
  out.end();
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
    file: SourceFile;
    rows: ReadonlyMap<string, number>;
    results: ReadonlyMap<number, IntoCells>;
    name: string;
  },
  { id, failed, out }: { id: string; failed: boolean; out: Output },
  { terminal }: Context,
): Promise<number> {
  const { file, rows, results, name } = parts;
  const writer = bufferedWriter(out.terminal);
  let unmatched = 0;
  for await (const part of file.parts) {
    if ('header' in part) {
      await writer.write(part.header(true));
      continue;
    }
    const row = findRow(rows, part.value);
    if (row === undefined) {
      unmatched++;
      terminal.err(`${safeLine(`${name}:${part.line}: doesn't match any row in ${id}.`)}\n`);
    }
    const cells = (row === undefined ? undefined : results.get(row)) ?? NO_RESULT;
    const hasFailed = row !== undefined && cells.esign_envelope_id === '';
    if (failed && !hasFailed) continue;
    out.rows++;
    await writer.write(part.text(cells));
  }
  await writer.end();
  return unmatched;
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
    esign_error: replacedBy === undefined ? reasonIn(own) : `Replaced by ${replacedBy}`,
  };
}

/** Returns why a row failed or was declined. */
function reasonIn(lines: readonly StatusLine[]): string {
  const error = lines.find((line) => line.error !== null)?.error ?? null;
  return error?.code === 'DECLINED' ? `Declined: ${error.message}` : errorInWords(error);
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
