import { isRecord } from '../../kernel/json.ts';
import { csvRecord } from '../../tables/csv-text.ts';
import { type FileSource, openTableFile, type ReadOptions } from '../../tables/open-table.ts';
import { csvText, type TableCell } from '../../tables/table-cell.ts';
import { type TableRecord, UnreadableRow } from '../../tables/table-types.ts';
import { columnsSentBefore, type SheetColumn } from '../rows/columns.ts';
import { readJsonRows } from '../rows/json-rows.ts';
import type { RawRow } from '../rows/raw-row.ts';
import { buildRawRow } from '../rows/table-rows.ts';
import { ADDED_COLUMNS, type AddedColumn, type ResultCells, resultColumnNamed } from './result-columns.ts';

/** A row of a source file that is written again. */
export interface SourceRow extends RawRow {
  /** Returns the cells, with the results of the row if there are any. A row of JSON Lines is one cell. */
  rewritten: (results?: ResultCells) => TableCell[];
}

/** A source file that is written again. */
export interface SourceFile {
  isJson: boolean;
  /** The delimiter of the CSV file. Undefined for other files. */
  delimiter: string | undefined;
  /** The name of the sheet. Undefined for other files. */
  sheet: string | undefined;
  /** Yields the header of a table (without a row) and the rows. */
  parts: AsyncGenerator<SourceRow | { header: (withResults: boolean) => TableCell[] }, void, undefined>;
  /** Returns cells as text in the file's own format: CSV, also for a sheet, or JSON Lines. */
  textOf: (cells: readonly TableCell[]) => string;
}

/** Opens a source file to write its rows again. `sent`: the paths of the columns that count; all columns if undefined. */
export async function openSource(
  file: FileSource,
  options: ReadOptions & { sent?: readonly string[] | undefined },
): Promise<SourceFile> {
  const table = await openTableFile(file, options);
  if (table.format === 'json') {
    const textOf: SourceFile['textOf'] = ([cell]) => `${cell?.text ?? ''}\n`;
    return { isJson: true, delimiter: undefined, sheet: undefined, parts: jsonParts(table.text), textOf };
  }
  const records = table.records({ problem: () => undefined, warning: () => undefined });
  return {
    isJson: false,
    delimiter: table.delimiter,
    sheet: table.sheet,
    parts: tableParts(records, options.sent),
    textOf: (cells) => csvRecord(cells.map(csvText), table.delimiter ?? options.delimiter),
  };
}

/** Yields the objects of a JSON Lines file. @throws UnreadableRow for a line that is not JSON. */
async function* jsonParts(text: AsyncIterable<string>): SourceFile['parts'] {
  const rows = readJsonRows(text, (problem) => {
    throw new UnreadableRow(problem);
  });
  for await (const row of rows)
    yield {
      ...row,
      rewritten: (results) => [
        { text: JSON.stringify({ ...(isRecord(row.value) ? row.value : {}), ...resultMembers(results) }) },
      ],
    };
}

function resultMembers(results: ResultCells | undefined): Record<string, string | null> {
  if (results === undefined) return {};
  return Object.fromEntries(ADDED_COLUMNS.map((column) => [column, results[column] || null]));
}

async function* tableParts(
  records: AsyncIterable<TableRecord>,
  sent: readonly string[] | undefined,
): SourceFile['parts'] {
  let layout: Layout | undefined;
  for await (const { cells: texts, kinds, line } of records) {
    const cells = texts.map((text, index): TableCell => ({ text, kind: kinds?.[index], isOwn: true }));
    if (layout === undefined) {
      layout = new Layout(texts, sent);
      const whole = layout.header;
      yield { header: (withResults) => (withResults ? whole : cells) };
    } else {
      const { columns } = layout;
      const withResults = layout.withResults.bind(layout);
      yield {
        ...buildRawRow(columns, texts, line),
        rewritten: (results) => (results === undefined ? cells : withResults(cells, results)),
      };
    }
  }
}

/** The places of the result columns: existing ones keep theirs, and the others follow the last column. */
class Layout {
  readonly columns: SheetColumn[];
  readonly header: TableCell[];
  readonly #existing: ReadonlyMap<number, AddedColumn>;
  readonly #added: readonly AddedColumn[];

  constructor(header: readonly string[], sent: readonly string[] | undefined) {
    this.columns = columnsSentBefore(header, sent);
    this.#existing = new Map(
      header.flatMap((name, index) => {
        const column = resultColumnNamed(name);
        return column === undefined ? [] : [[index, column] as const];
      }),
    );
    const existing = new Set(this.#existing.values());
    this.#added = ADDED_COLUMNS.filter((column) => !existing.has(column));
    this.header = [...header, ...this.#added].map((text) => ({ text, isOwn: true }));
  }

  withResults(cells: readonly TableCell[], results: ResultCells): TableCell[] {
    const own = this.columns.map((_, index) => {
      const column = this.#existing.get(index);
      return column === undefined ? (cells[index] ?? { text: '' }) : resultCell(results, column);
    });
    return [...own, ...this.#added.map((column) => resultCell(results, column))];
  }
}

function resultCell(results: ResultCells, column: AddedColumn): TableCell {
  return { text: results[column], kind: column === 'esign_signed_at' ? 'time' : undefined };
}
