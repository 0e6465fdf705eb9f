import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { codeOf } from '../../kernel/errors.ts';
import { isList, isRecord } from '../../kernel/json.ts';
import { type Column, columnLetters, readHeader } from './columns.ts';
import { type Problem, type RawRow, UnreadableRow } from './raw-row.ts';

const DELIMITERS = [',', ';', '\t', '|'];
const DELIMITER_NAMES: Readonly<Record<string, string>> = { '\t': 'tab' };
/** A quote that is never closed would take the rest of the file into one cell. */
const LONGEST_ROW = 1_000_000;

/** The rows of a CSV text with a header, whatever its delimiter; `head` is its beginning. What is wrong goes to `report`. */
export async function* csvRows(
  head: string,
  text: AsyncIterable<string>,
  report: (problem: Problem) => void,
): AsyncGenerator<RawRow, void, undefined> {
  // Spreadsheet programs write the delimiter as the first line.
  const said = /^sep=(.)\n/.exec(head)?.[1];
  const delimiter = said ?? delimiterOf(head);
  let columns: Column[] | undefined;
  let unnamed: UnnamedColumns | undefined;
  for await (const { cells, line } of records(text, delimiter)) {
    const isSaid = said !== undefined && line === 1;
    if (isSaid || cells.every((cell) => cell.trim() === '')) continue;
    if (columns === undefined) {
      columns = goodColumns(cells, line, report);
      unnamed = new UnnamedColumns(columns, line, report);
    } else if (hasAllCells(cells, columns.length)) {
      unnamed?.check(cells, line);
      yield rawRow(columns, cells, line);
    } else report({ line, column: '', text: wrongCount(cells.length, columns.length, delimiter) });
    // With an unknown column every row would be wrong in the same way.
    if (columns.length === 0) return;
  }
}

/** The columns of the header line; none when something is wrong with it. */
function goodColumns(cells: readonly string[], line: number, report: (problem: Problem) => void): Column[] {
  const { columns, problems } = readHeader(cells, line);
  for (const problem of problems) report(problem);
  return problems.length > 0 ? [] : columns;
}

const LONGEST_SHOWN = 40;

/** Columns without a name. Spreadsheets save empty ones, too: only a cell in one of them is a problem. */
class UnnamedColumns {
  readonly #indexes: Set<number>;
  readonly #headerLine: number;
  readonly #report: (problem: Problem) => void;

  constructor(columns: readonly Column[], headerLine: number, report: (problem: Problem) => void) {
    this.#indexes = new Set(columns.flatMap(({ name }, index) => (name === '' ? [index] : [])));
    this.#headerLine = headerLine;
    this.#report = report;
  }

  check(cells: readonly string[], line: number): void {
    for (const index of this.#indexes) {
      const cell = cells[index]?.trim() ?? '';
      if (cell === '') continue;
      const shown = cell.length > LONGEST_SHOWN ? `${cell.slice(0, LONGEST_SHOWN)}…` : cell;
      const text = `column ${columnLetters(index)} (row ${line} has "${shown}") has no name; name it or delete it`;
      this.#report({ line: this.#headerLine, column: '', text });
      this.#indexes.delete(index);
    }
  }
}

function hasAllCells(cells: readonly string[], columns: number): boolean {
  return cells.length >= columns && cells.slice(columns).every((cell) => cell.trim() === '');
}

interface CsvRecord {
  cells: string[];
  line: number;
}

async function* records(
  text: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<CsvRecord, void, undefined> {
  // Rows that were read and not yet handed over are lost with an error; so the lines are counted where they are read.
  let read = 0;
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    max_record_size: LONGEST_ROW,
    on_record: (record, { lines }) => {
      read = lines;
      return record;
    },
  });
  // The loop below gets the error, too.
  pipeline(Readable.from(text), parser).catch(() => undefined);
  let line = 1;
  try {
    for await (const item of parser) {
      const { cells, lines } = readItem(item);
      yield { cells, line };
      line = lines + 1;
    }
  } catch (error) {
    if (error instanceof CsvError)
      throw new UnreadableRow({ line: read + 1, column: '', text: reasonOf(error) });
    throw error;
  }
}

function readItem(item: unknown): { cells: string[]; lines: number } {
  const { record, info } = isRecord(item) ? item : {};
  if (!isList(record) || !isRecord(info)) return { cells: [], lines: 0 };
  return { cells: record.map(String), lines: Number(info.lines) };
}

function reasonOf(error: Error): string {
  switch (codeOf(error)) {
    case 'CSV_QUOTE_NOT_CLOSED':
    case 'CSV_MAX_RECORD_SIZE':
      return 'a quote is opened here and never closed; close it, and double quotes inside a quoted cell ("")';
    default:
      return 'there is a quote inside a cell; put the whole cell in quotes and double the quotes inside it ("")';
  }
}

/** The delimiter that the header has most of, outside quotes. */
function delimiterOf(head: string): string {
  const [line = ''] = head.replaceAll(/"[^"]*"/g, '').split('\n');
  const counts = DELIMITERS.map((one) => line.split(one).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

function wrongCount(cells: number, columns: number, delimiter: string): string {
  const sign = DELIMITER_NAMES[delimiter] ?? `"${delimiter}"`;
  return cells > columns
    ? `the row has ${cells} cells, the header ${columns}; put a cell that holds a ${sign} in quotes`
    : `the row has ${cells} cells, the header ${columns}; add the empty ones`;
}

/** Empty cells count as missing; a signer without any cell is left out. */
function rawRow(columns: readonly Column[], cells: readonly string[], line: number): RawRow {
  const plain = new Map<string, unknown>();
  const metadata = new Map<string, unknown>();
  const signers = new Map<string, Record<string, unknown>>();
  for (const [index, { path }] of columns.entries()) {
    const cell = cells[index]?.trim() ?? '';
    const [top = '', second = '', third = ''] = path;
    if (cell === '' || top === '') continue;
    if (top === 'metadata') metadata.set(second, cell);
    else if (top === 'signers')
      signers.set(second, { ...signers.get(second), [third]: cellValue(third, cell) });
    else plain.set(top, cellValue(top, cell));
  }
  const order = [...signers.keys()].sort((a, b) => Number(a) - Number(b));
  plain.set(
    'signers',
    order.map((number) => signers.get(number)),
  );
  // fromEntries makes own members of any name, __proto__ included.
  if (metadata.size > 0) plain.set('metadata', Object.fromEntries(metadata));
  return { line, value: Object.fromEntries(plain), label: (path) => labelOf(path, columns, order) };
}

function cellValue(field: string, cell: string): unknown {
  return field === 'order' || field === 'expiresInDays' ? numberOr(cell) : cell;
}

function numberOr(cell: string): number | string {
  return /^\d{1,15}$/.test(cell) ? Number(cell) : cell;
}

function labelOf(path: string, columns: readonly Column[], order: readonly string[]): string {
  const [top, index = '', field = 'email'] = path.split('.');
  const wanted = top === 'signers' ? `signers.${order[Number(index)] ?? '0'}.${field}` : path;
  return columns.find((column) => column.path.join('.') === wanted)?.name ?? headerNameOf(wanted);
}

function headerNameOf(path: string): string {
  const snake = (word: string) => word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const [top = '', index, field] = path.split('.');
  return top === 'signers' ? `signer${Number(index) + 1}_${field}` : snake(top);
}
