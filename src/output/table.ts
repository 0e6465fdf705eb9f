import Table from 'cli-table3';
import type { Terminal } from './terminal.ts';
import { safeLine, truncate, widthOf, wrapped } from './text.ts';

/** A column of a list: exact values for programs, and what a person sees where that differs. */
export interface Column<T> {
  /** Stable name, as in --fields and CSV headers. */
  key: string;
  header: string;
  /** Exact text; empty when there is none. */
  value(item: T): string;
  /** For the terminal; the exact value when absent. */
  show?(item: T): string;
  /** Colour of the cell on a terminal. */
  colour?(item: T): Parameters<Terminal['style']>[0] | undefined;
  /** Never cut: ids and states must stay whole. */
  fixed?: boolean;
}

const GAP = 2;
const LEAST = 12;

/** Rows as an aligned table that fits the terminal; long free text is cut, never ids. */
export function renderTable<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  terminal: Terminal,
): string {
  const cells = items.map((item) => columns.map((column) => safeLine((column.show ?? column.value)(item))));
  const fitted = fitColumns(columns, cells, terminal.columns);
  const table = plainTable();
  table.push(fitted.map(({ column, width }) => terminal.style('dim', truncate(column.header, width))));
  for (const [row, item] of items.entries()) {
    table.push(
      fitted.map(({ column, width, index }) => {
        const text = truncate(cells[row]?.[index] ?? '', width);
        const colour = column.colour?.(item);
        return colour === undefined ? text : terminal.style(colour, text);
      }),
    );
  }
  return `${trimLines(table.toString())}\n`;
}

/** Two columns, label and text, as in the view of one thing; long text goes on in the next line, nothing is cut. */
export function renderPairs(
  pairs: readonly (readonly [string, string])[],
  terminal: Terminal,
  indent = '',
): string {
  if (pairs.length === 0) return '';
  const labels = Math.max(0, ...pairs.map(([label]) => widthOf(label)));
  const room = Math.max(20, terminal.columns - labels - indent.length - GAP);
  const table = plainTable();
  for (const [label, text] of pairs) table.push([terminal.style('dim', label), fitted(text, room)]);
  const lines = trimLines(table.toString()).split('\n');
  return `${lines.map((line) => `${indent}${line}`).join('\n')}\n`;
}

/** Text that stands `indent` columns in: lines after the first begin there, too. */
export function indented(text: string, indent: number, terminal: Terminal): string {
  return fitted(text, Math.max(20, terminal.columns - indent)).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** A text behind a head, or below it where both do not fit on a line. */
export function behind(head: string, text: string, terminal: Terminal): string {
  const line = `${head} ${text}`;
  return widthOf(line) <= terminal.columns
    ? line
    : `${head.trimEnd()}\n  ${indented(text.trimStart(), 2, terminal)}`;
}

function fitted(text: string, room: number): string {
  return widthOf(text) <= room ? text : wrapped(text, room).join('\n');
}

function plainTable(): InstanceType<typeof Table> {
  const none = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '' };
  const rest = {
    'bottom-left': '',
    'bottom-right': '',
    left: '',
    'left-mid': '',
    mid: '',
    'mid-mid': '',
    right: '',
  };
  return new Table({
    chars: { ...none, ...rest, 'right-mid': '', middle: ' '.repeat(GAP) },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
}

function trimLines(text: string): string {
  return text.replace(/[ \t]+$/gm, '');
}

/** The columns that fit, with their widths: the widest text gives way first, then columns go from the right. */
function fitColumns<T>(
  columns: readonly Column<T>[],
  cells: readonly string[][],
  room: number,
): { column: Column<T>; width: number; index: number }[] {
  for (let count = columns.length; count > 1; count--) {
    const widths = fitWidths(columns.slice(0, count), cells, room);
    if (widths !== undefined) return widths;
  }
  return columns
    .slice(0, 1)
    .map((column, index) => ({ column, index, width: naturalWidth(column, cells, index) }));
}

function naturalWidth<T>(column: Column<T>, cells: readonly string[][], index: number): number {
  return cells.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), widthOf(column.header));
}

/** Undefined when even the narrowest columns are too wide together. */
function fitWidths<T>(columns: readonly Column<T>[], cells: readonly string[][], room: number) {
  const fitted = columns.map((column, index) => ({
    column,
    index,
    width: naturalWidth(column, cells, index),
  }));
  const excess = () => fitted.reduce((sum, one) => sum + one.width, 0) + GAP * (fitted.length - 1) - room;
  while (excess() > 0) {
    const loose = fitted
      .filter((one) => !one.column.fixed && one.width > LEAST)
      .sort((a, b) => b.width - a.width);
    const [widest, next] = loose;
    if (widest === undefined) return undefined;
    // Down to the next widest at most, so that all long texts give way alike.
    const step = Math.max(1, widest.width - (next?.width ?? LEAST));
    widest.width = Math.max(LEAST, widest.width - Math.min(step, excess()));
  }
  return fitted;
}
