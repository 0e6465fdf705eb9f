import { counted } from '../../kernel/duration.ts';
import { TYPOGRAPHIC_QUOTE } from '../../kernel/text/email-address.ts';
import { DELIMITERS } from '../../tables/csv-records.ts';
import type { TableFinding, TableRecord } from '../../tables/table-types.ts';
import { type Header, missingAddress, parseColumnName, readHeader, type SheetColumn } from './columns.ts';
import { NAME_PARTS } from './headers.ts';
import type { RawRow } from './raw-row.ts';

const DELIMITER_NAMES: Readonly<Record<string, string>> = { '\t': 'tab' };

/**
 * Yields the rows of a table whose first record names the columns. Problems go to `report`. `delimiter` is that of a CSV text.
 * `onColumns` receives the columns of the header.
 */
export async function* readTableRows(
  records: AsyncIterable<TableRecord>,
  options: {
    delimiter: string | undefined;
    report: (problem: TableFinding) => void;
    onColumns: (columns: readonly SheetColumn[]) => void;
  },
): AsyncGenerator<RawRow, void, undefined> {
  const { delimiter, report } = options;
  let header: (Header & TableRecord) | undefined;
  let firstRow: readonly string[] = [];
  for await (const record of records) {
    const { cells, line } = record;
    if (header === undefined) {
      header = { ...headerOf(record), ...record };
      for (const problem of header.problems) report(problem);
      options.onColumns(header.columns);
      continue;
    }
    firstRow = cells;
    // Without a usable header, every row would have the same problem.
    const width = header.columns.length;
    if (width === 0) break;
    if (hasAllCells(cells, width)) yield buildRawRow(header.columns, cells, line);
    else report({ line, column: '', text: wrongCount(cells, width, delimiter) });
  }
  if (header?.lacksAddress) report(missingAddress(header.cells, header.line, firstRow));
}

function headerOf({ cells, line }: TableRecord): Header {
  if (isOneCell(cells) && parseColumnName(cells[0] ?? '') === undefined)
    return { columns: [], problems: [{ line, column: '', text: ALL_IN_ONE_CELL }] };
  return readHeader(cells, line);
}

function hasAllCells(cells: readonly string[], columns: number): boolean {
  return cells.length >= columns && cells.slice(columns).every((cell) => cell.trim() === '');
}

function wrongCount(cells: readonly string[], columns: number, delimiter: string | undefined): string {
  const counts = `the row has ${counted(cells.length, 'cell')}, but the header has ${columns}`;
  const sign = DELIMITER_NAMES[delimiter ?? ''] ?? `"${delimiter ?? ''}"`;
  if (isOneCell(cells) && cells[0]?.includes('@')) return ALL_IN_ONE_CELL;
  if (cells.some((cell) => TYPOGRAPHIC_START.test(cell)))
    return `${counts}; the quotes “ ” don't hold a cell together, use straight ones ("")`;
  if (delimiter === undefined) return `${counts}; name the column, or delete its cells`;
  return cells.length > columns
    ? `${counts}; put quotes around a cell that contains a ${sign}`
    : `${counts}; add the missing ones, even if they are empty`;
}

/** A quote as word processors write it, at the beginning of a cell. */
const TYPOGRAPHIC_START = new RegExp(`^\\s*${TYPOGRAPHIC_QUOTE.source}`, 'u');

const ALL_IN_ONE_CELL =
  'the whole line is one cell; remove the quotes around the line, or split the column in your spreadsheet program';

/** Returns true if the only filled cell contains delimiters: the line is in quotes, or the text was not split into columns. */
function isOneCell([first = '', ...others]: readonly string[]): boolean {
  return DELIMITERS.some((one) => first.includes(one)) && others.every((cell) => cell.trim() === '');
}

/** Builds a row from its cells. Empty cells count as missing, and a signer without any cell is left out. */
export function buildRawRow(columns: readonly SheetColumn[], cells: readonly string[], line: number): RawRow {
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
    order.map((number) => withFullName(signers.get(number) ?? {})),
  );
  // Object.fromEntries creates own properties for any name, including __proto__.
  if (metadata.size > 0) plain.set('metadata', Object.fromEntries(metadata));
  return {
    line,
    value: Object.fromEntries(plain),
    label: (path) => labelOf(path, columns, order),
    cell: (path) => cellAt(path, columns, cells) ?? fullNameAt(path, signers),
    columns,
    cells,
  };
}

/** Returns a signer whose name is put together from its parts, if there are any. */
function withFullName(signer: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const parts = NAME_PARTS.flatMap((part) => (typeof signer[part] === 'string' ? [signer[part]] : []));
  if (parts.length === 0) return { ...signer };
  const others = Object.entries(signer).filter(([field]) => !NAME_PARTS.includes(field));
  return { ...Object.fromEntries(others), name: fullName(parts) };
}

/** Puts parts of a name together. A part that contains the others, as many lists have it, is already the whole name. */
function fullName(parts: readonly string[]): string {
  const wordsOf = (name: string) => name.split(/[\s,]+/);
  const isWhole = (name: string) => {
    const words = wordsOf(name);
    const others = parts.filter((part) => part !== name);
    return others.length > 0 && others.every((part) => wordsOf(part).every((word) => words.includes(word)));
  };
  return parts.find(isWhole) ?? parts.join(' ');
}

/** Returns the name of a signer that is in several columns, or undefined for any other path. */
function fullNameAt(
  [top, number = '', field]: readonly string[],
  signers: ReadonlyMap<string, Record<string, unknown>>,
): unknown {
  const signer = signers.get(number);
  return top === 'signers' && field === 'name' && signer ? withFullName(signer).name : undefined;
}

function cellAt(
  path: readonly string[],
  columns: readonly SheetColumn[],
  cells: readonly string[],
): string | undefined {
  const name = path.join('.');
  const indexes = columns.flatMap((column, index) =>
    column.path.join('.').toLowerCase() === name.toLowerCase() ? [index] : [],
  );
  // Metadata keys that differ only in case are different columns.
  const exact = indexes.find((index) => columns[index]?.path.join('.') === name);
  const [only] = indexes.length > 1 ? [exact] : indexes;
  return only === undefined ? undefined : (cells[only]?.trim() ?? '');
}

function cellValue(field: string, cell: string): unknown {
  return field === 'order' || field === 'expiresInDays' ? numberOr(cell) : cell;
}

function numberOr(cell: string): number | string {
  return /^\d{1,15}(?:\.0+)?$/.test(cell) ? Number(cell) : cell;
}

function labelOf(path: string, columns: readonly SheetColumn[], order: readonly string[]): string {
  const [top, index = '', field = 'email'] = path.split('.');
  const target = top === 'signers' ? `signers.${order[Number(index)] ?? '0'}.${field}` : path;
  const at = (wanted: string) => columns.find((column) => column.path.join('.') === wanted)?.name;
  const parts = target.endsWith('.name') ? NAME_PARTS.map((part) => target.replace(/name$/, part)) : [];
  return [target, ...parts].map(at).find((name) => name !== undefined) ?? headerNameOf(target);
}

function headerNameOf(path: string): string {
  const snake = (word: string) => word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const [top = '', index, field] = path.split('.');
  return top === 'signers' ? `signer${Number(index) + 1}_${field}` : snake(top);
}
