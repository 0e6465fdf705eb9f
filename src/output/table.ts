import Table from 'cli-table3';
import stringWidth from 'string-width';
import { valueAt } from '../kernel/json.ts';
import { valueText } from '../kernel/text/exact-json.ts';
import { wordList } from '../kernel/text/word-list.ts';
import type { Terminal } from './terminal.ts';
import { largest, safeLine, truncate, widthOf, wrapped } from './text.ts';

/** A column of a list: exact values for programs, and optionally a different text for people. */
export interface TableColumn<T> {
  /** The stable name, as in --fields and CSV headers. */
  key: string;
  /** The heading (default: the key in capitals). */
  header?: string;
  /** Returns the exact text, which may be empty (default: the value at `key`, a path as in --fields). */
  value?(item: T): string;
  /** Returns the text on a terminal (default: the exact text). */
  show?(item: T): string;
  /** Returns the color of the cell on a terminal. */
  color?(item: T): Parameters<Terminal['style']>[0] | undefined;
  /** Whether cells are never cut, as for IDs and statuses. */
  fixed?: boolean;
  /** Whether a long cell continues on the next line instead of being cut, as for people. */
  wraps?: boolean;
  /** Whether a long cell is shown below its row, over the whole width, as for reasons. */
  below?: boolean;
  /** The minimum width to which cells may be cut. */
  least?: number;
  /** Whether to remove common words at the beginning if cutting the end would make different texts look the same. */
  cutsCommonStart?: boolean;
  /** Whether the column is shown only if it has text and nothing has to be cut for it. */
  extra?: boolean;
  /** Whether the column is hidden on a terminal, because another column contains its data. */
  exactOnly?: boolean;
}

function headerOf({ key, header = key.toUpperCase() }: Pick<TableColumn<unknown>, 'key' | 'header'>): string {
  return header;
}

export function exactText<T>(item: T, column: TableColumn<T>): string {
  if (column.value !== undefined) return column.value(item);
  const value = valueAt(item, column.key);
  if (value === undefined || value === null) return '';
  return valueText(value);
}

const GAP = 2;
const MIN_COLUMN_WIDTH = 12;

/** Formats rows as an aligned table that fits the terminal. Long text is cut, IDs never. */
export function renderTable<T>(
  items: readonly T[],
  all: readonly TableColumn<T>[],
  terminal: Terminal,
): string {
  const columns = all.filter(({ exactOnly }) => exactOnly !== true);
  const whole = items.map((item) =>
    columns.map((column) => safeLine(column.show?.(item) ?? exactText(item, column))),
  );
  if (terminal.accessible) return renderRecords(columns, whole);
  const { inRow, below } = separateLongCells(whole, columns, terminal.columns);
  const cells = stripCommonStart(inRow, fitColumns(columns, inRow, terminal.columns));
  const fitted = fitColumns(columns, cells, terminal.columns);
  const head = fitted.map(({ column, width }) => terminal.style('dim', truncate(headerOf(column), width)));
  const rows = items.map((item, row) =>
    fitted.map(({ column, width, index }) => {
      const cell = cells[row]?.[index] ?? '';
      const text = column.wraps ? fitWords(cell, width) : truncate(cell, width);
      const color = column.color?.(item);
      return color === undefined ? text : terminal.style(color, text);
    }),
  );
  return alignRows([head, ...rows])
    .flatMap((lines, row) => [...lines, ...(below[row - 1] ?? [])])
    .map((line) => `${line}\n`)
    .join('');
}

/** The share of a row that a cell may take before it is shown below. */
const MAX_SHARE = 1 / 3;
const BELOW_INDENT = 2;

/** Returns the lines of a cell of a `below` column that are shown below its row; none if it is short. */
export function linesBelow(text: string, room: number): string[] {
  return widthOf(text) > room * MAX_SHARE ? wrapped(text, room - BELOW_INDENT) : [];
}

/** Takes the long cells of `below` columns out of their rows, and returns the lines below each row. */
function separateLongCells<T>(
  cells: readonly string[][],
  columns: readonly TableColumn<T>[],
  room: number,
): { inRow: string[][]; below: string[][] } {
  const linesOf = (text: string, index: number) => (columns[index]?.below ? linesBelow(text, room) : []);
  return {
    inRow: cells.map((row) => row.map((text, index) => (linesOf(text, index).length > 0 ? '' : text))),
    below: cells.map((row) => row.flatMap(linesOf).map((line) => `${' '.repeat(BELOW_INDENT)}${line}`)),
  };
}

/** Formats each row as lines `Header: value`, without empty cells, and a blank line between rows. */
function renderRecords<T>(columns: readonly TableColumn<T>[], cells: readonly string[][]): string {
  const records = cells.map((row) =>
    columns.flatMap((column, index) => {
      const header = headerOf(column);
      return row[index] ? [`${header.charAt(0)}${header.slice(1).toLowerCase()}: ${row[index]}\n`] : [];
    }),
  );
  return records.map((lines) => lines.join('')).join('\n');
}

/** Formats labels and texts in two columns. Long text is wrapped, and nothing is cut. */
export function renderPairs(
  pairs: readonly (readonly [string, string])[],
  terminal: Terminal,
  indent = '',
): string {
  if (pairs.length === 0) return '';
  const labels = largest(pairs.map(([label]) => widthOf(label)));
  const room = Math.max(20, terminal.columns - labels - indent.length - GAP);
  const rows = pairs.map(([label, text]) => [terminal.style('dim', label), fitWords(text, room)]);
  return alignRows(rows)
    .flat()
    .map((line) => `${indent}${line}\n`)
    .join('');
}

/** Wraps text. All lines except the first are indented by `indent` columns. */
export function indented(text: string, indent: number, terminal: Terminal): string {
  return fitWords(text, Math.max(20, terminal.columns - indent)).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** Puts text after its label, or on the next line, indented by `indent` columns, if both don't fit on one. */
export function withHangingIndent(head: string, text: string, terminal: Terminal, indent = 2): string {
  const line = `${head} ${text}`;
  return widthOf(line) <= terminal.columns
    ? line
    : `${head.trimEnd()}\n${' '.repeat(indent)}${indented(text.trimStart(), indent, terminal)}`;
}

/** Wraps a text that is wider than the room. */
function fitWords(text: string, room: number): string {
  return widthOf(text) <= room ? text : wrapped(text, room).join('\n');
}

/** Rows per table of the package, which takes four times as long for twice as many. */
const ROWS_AT_ONCE = 100;

/** Aligns rows of cells, which may have several lines, and returns the lines of each row. */
function alignRows(rows: readonly string[][]): string[][] {
  const [first = []] = rows;
  const widths = first.map((_, at) => Math.max(1, largest(rows.map((row) => packageWidthOf(row[at] ?? '')))));
  const lines: string[] = [];
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const table = plainTable(widths);
    table.push(...rows.slice(start, start + ROWS_AT_ONCE));
    for (const line of table.toString().split('\n')) lines.push(line.trimEnd());
  }
  let end = 0;
  return rows.map((cells) => {
    const start = end;
    end += largest(cells.map((cell) => cell.split('\n').length));
    return lines.slice(start, end);
  });
}

/** Returns the width of the widest line as the package measures it, so that it cuts nothing. */
function packageWidthOf(cell: string): number {
  return largest(cell.split('\n').map((line) => stringWidth(line)));
}

function plainTable(colWidths: number[]): InstanceType<typeof Table> {
  const borders = wordList(`top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right
    left left-mid mid mid-mid right right-mid`);
  const none = Object.fromEntries(borders.map((name) => [name, '']));
  return new Table({
    chars: { ...none, middle: ' '.repeat(GAP) },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colWidths,
  });
}

/** Removes common words at the beginning of a column's cells if cutting the ends would make different cells look the same. */
function stripCommonStart<T>(cells: readonly string[][], fitted: readonly Fitted<T>[]): readonly string[][] {
  const lengths = new Map<number, number>();
  for (const { column, index, width } of fitted) {
    if (!column.cutsCommonStart) continue;
    const texts = new Set(cells.map((row) => row[index] ?? '').filter((text) => text !== ''));
    const cut = new Set([...texts].map((text) => truncate(text, width)));
    if (cut.size < texts.size) lengths.set(index, commonWords([...texts]).length);
  }
  if (lengths.size === 0) return cells;
  const shorter = (text: string, length: number) =>
    length > 0 && text !== '' ? `…${text.slice(length)}` : text;
  return cells.map((row) => row.map((text, index) => shorter(text, lengths.get(index) ?? 0)));
}

/** Returns the common beginning of all texts, up to a space. */
function commonWords([first = '', ...others]: readonly string[]): string {
  let length = others.length === 0 ? 0 : first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  return first.slice(0, first.lastIndexOf(' ', length - 1) + 1);
}

interface Fitted<T> {
  column: TableColumn<T>;
  index: number;
  width: number;
}

/**
 * Returns the columns that fit, with their widths. First drops columns whose cells are equal or empty and extra columns, then
 * cuts the widest text, and finally drops columns from the right.
 */
function fitColumns<T>(
  columns: readonly TableColumn<T>[],
  cells: readonly string[][],
  room: number,
): Fitted<T>[] {
  const all = columns
    .map((column, index) => ({ column, index, width: naturalWidth(column, cells, index) }))
    .filter(({ column, index }) => !column.extra || cells.some((row) => row[index]));
  if (excessWidth(all, room) <= 0) return all;
  const distinct = hideEqualColumns(all, cells, room);
  while (distinct.at(-1)?.column.extra && excessWidth(distinct, room) > 0) distinct.pop();
  for (let count = distinct.length; count > 1; count--) {
    const widths = fitWidths(distinct.slice(0, count), room);
    if (widths !== undefined) return widths;
  }
  return all.slice(0, 1);
}

/** Drops columns whose cells are equal or empty, widest first, until the remaining ones fit. */
function hideEqualColumns<T>(
  all: readonly Fitted<T>[],
  cells: readonly string[][],
  room: number,
): Fitted<T>[] {
  let left = [...all];
  const same = all.filter(
    ({ column: { fixed, wraps }, index, width }) =>
      !fixed && !wraps && width > MIN_COLUMN_WIDTH && isSame(cells, index),
  );
  for (const one of same.sort((a, b) => b.width - a.width)) {
    if (excessWidth(left, room) > 0) left = left.filter((other) => other !== one);
  }
  return left;
}

function isSame(cells: readonly string[][], index: number): boolean {
  const texts = cells.map((row) => row[index] ?? '').filter((text) => text !== '');
  return cells.length > 1 && new Set(texts).size <= 1;
}

function naturalWidth<T>(column: TableColumn<T>, cells: readonly string[][], index: number): number {
  return cells.reduce(
    (widest, row) => Math.max(widest, widthOf(row[index] ?? '')),
    widthOf(headerOf(column)),
  );
}

function excessWidth(columns: readonly { width: number }[], room: number): number {
  return columns.reduce((sum, one) => sum + one.width, 0) + GAP * (columns.length - 1) - room;
}

/** Cuts columns until they fit. Returns undefined if they don't fit even with their minimum widths. */
function fitWidths<T>(columns: readonly Fitted<T>[], room: number): Fitted<T>[] | undefined {
  const fitted = columns.map((one) => ({ ...one }));
  const leastOf = ({ column }: Fitted<T>) => column.least ?? MIN_COLUMN_WIDTH;
  for (let excess = excessWidth(fitted, room); excess > 0; excess = excessWidth(fitted, room)) {
    const [widest, next] = fitted
      .filter((one) => !one.column.fixed && one.width > leastOf(one))
      .sort((a, b) => b.width - a.width);
    if (widest === undefined) return undefined;
    // Cuts at most down to the next widest column, so that all long texts are cut evenly.
    const step = Math.max(1, widest.width - (next?.width ?? 0));
    widest.width = Math.max(leastOf(widest), widest.width - Math.min(step, excess));
  }
  return fitted;
}
