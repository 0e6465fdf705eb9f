import { isRecord, tryParseJson } from '../../kernel/json.ts';
import { membersOf } from '../../kernel/text/json-text.ts';
import { type Dialect, dialectOf, isBlank, peek } from '../../tables/csv-records.ts';
import type { TableRecord } from '../../tables/record.ts';
import { type CodeUnits, codeUnitsOf } from '../../tables/rewrite/code-units.ts';
import { quoted, type RawRecord, rawRecords, unquoted } from '../../tables/rewrite/csv-units.ts';
import { type FileSource, openTableFile, type ReadOptions } from '../../tables/table-file.ts';
import { columnOf, type SheetColumn } from '../rows/columns.ts';
import { cellAt, withoutResults } from '../rows/json-rows.ts';
import type { RawRow } from '../rows/raw-row.ts';
import { rawRow } from '../rows/table-rows.ts';
import { cellText, INTO_COLUMNS, type IntoCells, type IntoColumn, intoColumn } from './result-columns.ts';

/**
 * A part of a source file: a row, or something between rows (byte order mark, header, blank lines). The parts without results,
 * joined in order, are exactly the file.
 */
interface FilePart {
  /** Undefined if the part is not a row. */
  row?: RawRow | undefined;
  line: number;
  /** Returns the bytes of the part as they are in the file. */
  bytes(): Buffer;
  /** Returns the bytes with the result columns: values for a row, names for the header. */
  bytesWith(results: IntoCells): Buffer;
}

/** A source file that is rewritten part by part. */
export interface RewritableFile {
  parts: AsyncGenerator<FilePart, void, undefined>;
  /** Returns the number of result characters that the encoding of the file lacks. */
  replaced(): number;
}

/**
 * Opens a source file to rewrite it. A sheet becomes CSV in UTF-8 with a byte order mark. `delimiter` applies only to a sheet.
 * `sent`: the paths of the columns that count; all columns if undefined.
 */
export async function openRewritable(
  file: FileSource,
  options: ReadOptions & { delimiter: string; sent?: readonly string[] | undefined },
): Promise<RewritableFile> {
  const { delimiter, sent } = options;
  const table = await openTableFile(file, options);
  if (table.kind === 'sheet') {
    const records = table.records({ problem: () => undefined, warning: () => undefined });
    const units = await codeUnitsOf('utf-8', delimiter);
    const dialect = { delimiter, isNamed: false };
    return { parts: sheetParts(records, { units, dialect, sent }), replaced: () => 0 };
  }
  const { encoding, bytes } = table;
  const plain = await codeUnitsOf(encoding, ',');
  const { head, all } = await peek(plain.fromBytes(bytes));
  const mark = /^(?:\ufeff|\u00ef\u00bb\u00bf)/.exec(head)?.[0] ?? '';
  const start = plain.decode(head.slice(mark.length));
  if (/^\s*[{[]/.test(start)) return { parts: jsonParts(all, { units: plain, mark }), replaced: () => 0 };
  const dialect = dialectOf(start);
  const units = await codeUnitsOf(encoding, dialect.delimiter);
  return {
    parts: csvParts(all, { units, mark, dialect, sent, name: file.name }),
    replaced: () => units.replaced(),
  };
}

/** The byte order mark, by which spreadsheet programs on Windows recognize UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** Yields the rows of a sheet as CSV. */
async function* sheetParts(
  records: AsyncIterable<TableRecord>,
  file: CsvFile,
): AsyncGenerator<FilePart, void, undefined> {
  let layout: Layout | undefined;
  for await (const { cells, line } of records) {
    const record = csvRecord(cells, line, file);
    if (layout === undefined) {
      yield fixedPart(Buffer.from(BYTE_ORDER_MARK), line);
      layout = new Layout(cells, file);
      yield layout.part(record, undefined);
    } else yield layout.part(record, cells);
  }
}

function csvRecord(cells: readonly string[], line: number, { units, dialect }: CsvFile): RawRecord {
  const texts = cells.map((cell) => units.encode(quoted(cell, dialect.delimiter)));
  let start = 0;
  const places = texts.map((text) => {
    const from = start;
    start += text.length + 1;
    return [from, from + text.length] as const;
  });
  return { units: texts.join(dialect.delimiter), lineBreak: '\r\n', cells: places, line };
}

/** Yields the parts of a JSON Lines file, one per line. */
async function* jsonParts(
  pieces: AsyncIterable<string>,
  { units, mark }: { units: CodeUnits; mark: string },
): AsyncGenerator<FilePart, void, undefined> {
  let line = 0;
  for await (const text of linesOf(pieces)) {
    line++;
    const start = line === 1 ? mark.length : 0;
    const row = rowOf(units.decode(text.slice(start)), line);
    const bytes = () => units.toBytes(text);
    const bytesWith = (results: IntoCells) => units.toBytes(withMembers(text, results));
    yield row === undefined ? { line, bytes, bytesWith: bytes } : { row, line, bytes, bytesWith };
  }
}

/** Yields lines including their line breaks. */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const piece of pieces) {
    rest += piece;
    // A huge line is only split once it is complete.
    if (!piece.includes('\n')) continue;
    const lines = rest.split(/(?<=\n)/);
    rest = lines.at(-1)?.endsWith('\n') ? '' : (lines.pop() ?? '');
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function rowOf(text: string, line: number): RawRow | undefined {
  if (text.trim() === '') return undefined;
  const value = withoutResults(tryParseJson(text));
  return { line, value, label: (path) => path, cell: (path) => cellAt(value, path) };
}

/** Replaces existing result members and adds the others at the end of the object. */
function withMembers(text: string, results: IntoCells): string {
  if (!isRecord(tryParseJson(text.replace(/^(?:\ufeff|\u00ef\u00bb\u00bf)/, '')))) return text;
  const members = membersOf(text);
  const missing = INTO_COLUMNS.filter((column) => !members.some(({ name }) => name === column));
  const added = missing.map((column) => `${JSON.stringify(column)}:${asJson(results[column])}`).join(',');
  const end = text.lastIndexOf('}');
  const comma = members.length > 0 && added !== '' ? ',' : '';
  let written = `${text.slice(0, end)}${comma}${added}${text.slice(end)}`;
  for (const { name, from, to } of members.toReversed()) {
    const column = INTO_COLUMNS.find((one) => one === name);
    if (column !== undefined) written = written.slice(0, from) + asJson(results[column]) + written.slice(to);
  }
  return written;
}

/** Returns a result value as JSON in ASCII, which every encoding contains. */
function asJson(text: string): string {
  if (text === '') return 'null';
  return JSON.stringify(text).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

interface CsvFile {
  units: CodeUnits;
  dialect: Dialect;
  sent: readonly string[] | undefined;
}

/** Yields the parts of a CSV file. */
async function* csvParts(
  pieces: AsyncIterable<string>,
  file: CsvFile & { mark: string; name: string },
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
function looseColumns(cells: readonly string[], sent: readonly string[] | undefined): SheetColumn[] {
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
