import type { Dialect } from '../../tables/csv-records.ts';
import { isBlank } from '../../tables/csv-records.ts';
import type { CodeUnits } from '../../tables/rewrite/code-units.ts';
import { quoted, type RawRecord, rawRecords, unquoted } from '../../tables/rewrite/csv-units.ts';
import { columnOf, type SheetColumn } from '../rows/columns.ts';
import { rawRow } from '../rows/table-rows.ts';
import type { FilePart } from './file-part.ts';
import { cellText, INTO_COLUMNS, type IntoColumn, intoColumn } from './result-columns.ts';

interface CsvFile {
  units: CodeUnits;
  mark: string;
  dialect: Dialect;
  sent: readonly string[] | undefined;
  name: string;
}

/** Yields the parts of a CSV file. */
export async function* csvParts(
  pieces: AsyncIterable<string>,
  file: CsvFile,
): AsyncGenerator<FilePart, void, undefined> {
  const { units, mark, dialect } = file;
  if (mark !== '') yield fixedPart(units.toBytes(mark), 1);
  let layout: Layout | undefined;
  for await (const record of rawRecords(withoutStart(pieces, mark.length), dialect.delimiter, file.name)) {
    const cells = record.cells.map(([from, to]) => unquoted(units.decode(record.units.slice(from, to))));
    const isDialect = dialect.isNamed && record.line === 1;
    if (isDialect || isBlank(cells))
      yield fixedPart(units.toBytes(record.units + record.lineBreak), record.line);
    else if (layout === undefined) {
      layout = new Layout(cells, file);
      yield layout.part(record, undefined);
    } else yield layout.part(record, cells);
  }
}

/**
 * Returns the columns of a header. Columns whose path is not in `sent` count as unknown, since they may be added or changed
 * later.
 */
export function looseColumns(cells: readonly string[], sent: readonly string[] | undefined): SheetColumn[] {
  return cells.map((cell) => {
    const column = columnOf(cell);
    const isSent = column !== undefined && (sent === undefined || sent.includes(column.path.join('.')));
    return isSent ? column : { name: cell.trim(), path: [] };
  });
}

function fixedPart(bytes: Buffer, line: number): FilePart {
  return { line, bytes: () => bytes, bytesWith: () => bytes };
}

/** The places of the result columns: existing ones keep theirs, and the others follow the last column. */
class Layout {
  readonly #columns: SheetColumn[];
  readonly #existing: ReadonlyMap<number, IntoColumn>;
  readonly #added: readonly IntoColumn[];
  readonly #file: CsvFile;

  constructor(header: readonly string[], file: CsvFile) {
    this.#file = file;
    this.#columns = looseColumns(header, file.sent);
    this.#existing = new Map(
      header.flatMap((name, index) => {
        const column = intoColumn(name);
        return column === undefined ? [] : [[index, column] as const];
      }),
    );
    const existing = new Set(this.#existing.values());
    this.#added = INTO_COLUMNS.filter((column) => !existing.has(column));
  }

  /** Returns the part for a record. `cells`: the cells of a row; undefined for the header. */
  part(record: RawRecord, cells: readonly string[] | undefined): FilePart {
    const { units } = this.#file;
    return {
      ...(cells === undefined ? {} : { row: rawRow(this.#columns, cells, record.line) }),
      line: record.line,
      bytes: () => units.toBytes(record.units + record.lineBreak),
      bytesWith: (results) =>
        cells === undefined
          ? this.#write(record, (column) => column, true)
          : this.#write(record, (column) => cellText(results, column), false),
    };
  }

  #write(
    { units: text, lineBreak, cells }: RawRecord,
    textFor: (column: IntoColumn) => string,
    isHeader: boolean,
  ): Buffer {
    const { units, dialect } = this.#file;
    const { delimiter } = dialect;
    const cell = (column: IntoColumn) => units.encode(quoted(textFor(column), delimiter));
    const own = this.#columns.map((_, index) => {
      const column = this.#existing.get(index);
      const [from = 0, to = 0] = cells[index] ?? [];
      return column === undefined || isHeader ? text.slice(from, to) : cell(column);
    });
    // Cells to the right of the last column are empty and stay there.
    const beyond = cells.slice(this.#columns.length).map(([from, to]) => text.slice(from, to));
    return units.toBytes([...own, ...this.#added.map(cell), ...beyond].join(delimiter) + lineBreak);
  }
}

async function* withoutStart(
  pieces: AsyncIterable<string>,
  length: number,
): AsyncGenerator<string, void, undefined> {
  let left = length;
  for await (const piece of pieces) {
    yield piece.slice(left);
    left = Math.max(0, left - piece.length);
  }
}
