import { counted } from '../../kernel/duration.ts';
import { DELIMITERS } from '../../tables/csv-records.ts';
import type { TableFinding, TableRecord } from '../../tables/record.ts';
import { columnOf, readHeader, type SheetColumn } from './columns.ts';
import type { RawRow } from './raw-row.ts';

const DELIMITER_NAMES: Readonly<Record<string, string>> = { '\t': 'tab' };

/**
 * Yields the rows of a table whose first record names the columns. Problems go to `report`. `delimiter` is that of a CSV text.
 * `onColumns` receives the columns of the header.
 */
export async function* tableRows(
  records: AsyncIterable<TableRecord>,
  options: {
    delimiter: string | undefined;
    report: (problem: TableFinding) => void;
    onColumns: (columns: readonly SheetColumn[]) => void;
  },
): AsyncGenerator<RawRow, void, undefined> {
  const { delimiter, report } = options;
  let columns: SheetColumn[] | undefined;
  for await (const { cells, line } of records) {
    if (columns === undefined) {
      columns = goodColumns(cells, line, report);
      options.onColumns(columns);
    } else if (hasAllCells(cells, columns.length)) yield rawRow(columns, cells, line);
    else report({ line, column: '', text: wrongCount(cells, columns.length, delimiter) });
    // Without a usable header, every row would have the same problem.
    if (columns.length === 0) return;
  }
}

/** Returns the columns of the header line, or none if there is a problem with it. */
function goodColumns(
  cells: readonly string[],
  line: number,
  report: (problem: TableFinding) => void,
): SheetColumn[] {
  if (isOneCell(cells) && columnOf(cells[0] ?? '') === undefined) {
    report({ line, column: '', text: ALL_IN_ONE_CELL });
    return [];
  }
  const { columns, problems } = readHeader(cells, line);
  for (const problem of problems) report(problem);
  return columns;
}

function hasAllCells(cells: readonly string[], columns: number): boolean {
  return cells.length >= columns && cells.slice(columns).every((cell) => cell.trim() === '');
}

function wrongCount(cells: readonly string[], columns: number, delimiter: string | undefined): string {
  const counts = `the row has ${counted(cells.length, 'cell')}, but the header has ${columns}`;
  const sign = DELIMITER_NAMES[delimiter ?? ''] ?? `"${delimiter ?? ''}"`;
  if (isOneCell(cells) && cells[0]?.includes('@')) return ALL_IN_ONE_CELL;
  if (delimiter === undefined) return `${counts}; name the column, or delete its cells`;
  return cells.length > columns
    ? `${counts}; put quotes around a cell that contains a ${sign}`
    : `${counts}; add the missing ones, even if they are empty`;
}

const ALL_IN_ONE_CELL =
  'the whole line is one cell; remove the quotes around the line, or split the column in your spreadsheet program';

/** Returns true if the only filled cell contains delimiters: the line is in quotes, or the text was not split into columns. */
function isOneCell([first = '', ...others]: readonly string[]): boolean {
  return DELIMITERS.some((one) => first.includes(one)) && others.every((cell) => cell.trim() === '');
}

/** Builds a row from its cells. Empty cells count as missing, and a signer without any cell is left out. */
export function rawRow(columns: readonly SheetColumn[], cells: readonly string[], line: number): RawRow {
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
  // Object.fromEntries creates own properties for any name, including __proto__.
  if (metadata.size > 0) plain.set('metadata', Object.fromEntries(metadata));
  return {
    line,
    value: Object.fromEntries(plain),
    label: (path) => labelOf(path, columns, order),
    cell: (path) => cellAt(path, columns, cells),
  };
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
  return columns.find((column) => column.path.join('.') === target)?.name ?? headerNameOf(target);
}

function headerNameOf(path: string): string {
  const snake = (word: string) => word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const [top = '', index, field] = path.split('.');
  return top === 'signers' ? `signer${Number(index) + 1}_${field}` : snake(top);
}
