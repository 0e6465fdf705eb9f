import { isRecord } from '../../kernel/json.ts';
import { csvRecord } from '../../tables/csv-records.ts';
import { type TableRecord, UnreadableRow } from '../../tables/record.ts';
import { type FileSource, openTableFile, type ReadOptions } from '../../tables/table-file.ts';
import { columnOf, type SheetColumn } from '../rows/columns.ts';
import { jsonRows } from '../rows/json-rows.ts';
import type { RawRow } from '../rows/raw-row.ts';
import { rawRow } from '../rows/table-rows.ts';
import { ADDED_COLUMNS, type AddedColumn, cellText, type IntoCells, intoColumn } from './result-columns.ts';

/** A row of a source file that is written again. */
interface SourceRow extends RawRow {
  /** Returns the row as text, with its results if there are any. */
  text: (results?: IntoCells) => string;
}

/** A source file that is written again: as CSV in UTF-8, or as JSON Lines. */
export interface SourceFile {
  /** Yields the header (without a row) and the rows. */
  parts: AsyncGenerator<SourceRow | { header: (withResults: boolean) => string }, void, undefined>;
}

/** The byte order mark, by which spreadsheet programs on Windows recognize UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Opens a source file to write its rows again. The delimiter of CSV is kept; a sheet gets `sheetDelimiter`. `sent`: the paths of
 * the columns that count; all columns if undefined.
 */
export async function openSource(
  file: FileSource,
  options: ReadOptions & { sheetDelimiter: string; sent?: readonly string[] | undefined },
): Promise<SourceFile> {
  const { sheetDelimiter, sent } = options;
  const table = await openTableFile(file, options);
  if (table.format === 'json') return { parts: jsonParts(table.text) };
  const isPlain = table.format === 'csv' && table.encoding === 'utf-8' && !table.hasByteOrderMark;
  const records = table.records({ problem: () => undefined, warning: () => undefined });
  const delimiter = table.delimiter ?? sheetDelimiter;
  return { parts: csvParts(records, { delimiter, mark: isPlain ? '' : BYTE_ORDER_MARK, sent }) };
}

/** Yields the objects of a JSON Lines file. @throws UnreadableRow for a line that is not JSON. */
async function* jsonParts(text: AsyncIterable<string>): AsyncGenerator<SourceRow, void, undefined> {
  const rows = jsonRows(text, (problem) => {
    throw new UnreadableRow(problem);
  });
  for await (const row of rows)
    yield {
      ...row,
      text: (results) =>
        `${JSON.stringify({ ...(isRecord(row.value) ? row.value : {}), ...resultMembers(results) })}\n`,
    };
}

function resultMembers(results: IntoCells | undefined): Record<string, string | null> {
  if (results === undefined) return {};
  return Object.fromEntries(ADDED_COLUMNS.map((column) => [column, results[column] || null]));
}

interface CsvFacts {
  delimiter: string;
  mark: string;
  sent: readonly string[] | undefined;
}

async function* csvParts(
  records: AsyncIterable<TableRecord>,
  { delimiter, mark, sent }: CsvFacts,
): SourceFile['parts'] {
  let layout: Layout | undefined;
  for await (const { cells, line } of records) {
    if (layout === undefined) {
      layout = new Layout(cells, sent);
      const { header } = layout;
      yield { header: (withResults) => mark + csvRecord(withResults ? header : cells, delimiter) };
    } else {
      const { columns } = layout;
      const withResults = layout.withResults.bind(layout);
      yield {
        ...rawRow(columns, cells, line),
        text: (results) => csvRecord(results === undefined ? cells : withResults(cells, results), delimiter),
      };
    }
  }
}

/** The places of the result columns: existing ones keep theirs, and the others follow the last column. */
class Layout {
  readonly columns: SheetColumn[];
  readonly header: string[];
  readonly #existing: ReadonlyMap<number, AddedColumn>;
  readonly #added: readonly AddedColumn[];

  constructor(header: readonly string[], sent: readonly string[] | undefined) {
    this.columns = looseColumns(header, sent);
    this.#existing = new Map(
      header.flatMap((name, index) => {
        const column = intoColumn(name);
        return column === undefined ? [] : [[index, column] as const];
      }),
    );
    const existing = new Set(this.#existing.values());
    this.#added = ADDED_COLUMNS.filter((column) => !existing.has(column));
    this.header = [...header, ...this.#added];
  }

  withResults(cells: readonly string[], results: IntoCells): string[] {
    const own = this.columns.map((_, index) => {
      const column = this.#existing.get(index);
      return column === undefined ? (cells[index] ?? '') : cellText(results, column);
    });
    return [...own, ...this.#added.map((column) => cellText(results, column))];
  }
}

/**
 * Returns the columns of a header. Columns whose path is not in `sent` count as unknown, since they may be added or changed
 * later.
 */
function looseColumns(cells: readonly string[], sent: readonly string[] | undefined): SheetColumn[] {
  return cells.map((cell) => {
    const column = columnOf(cell);
    const isSent = column !== undefined && (sent === undefined || sent.includes(column.path.join('.')));
    return isSent ? column : { name: cell.trim(), path: [] };
  });
}
