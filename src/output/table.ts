import Table from 'cli-table3';
import type { Terminal } from './terminal.ts';
import { safeLine, truncate, widthOf } from './text.ts';

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
const LEAST = 6;

/** Rows as an aligned table that fits the terminal; long free text is cut, never ids. */
export function renderTable<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  terminal: Terminal,
): string {
  const cells = items.map((item) => columns.map((column) => safeLine((column.show ?? column.value)(item))));
  const widths = fitWidths(columns, cells, terminal.columns);
  const table = plainTable();
  table.push(columns.map((column, i) => terminal.style('dim', truncate(column.header, widths[i] ?? LEAST))));
  for (const [row, item] of items.entries()) {
    table.push(
      columns.map((column, i) => {
        const text = truncate(cells[row]?.[i] ?? '', widths[i] ?? LEAST);
        const colour = column.colour?.(item);
        return colour === undefined ? text : terminal.style(colour, text);
      }),
    );
  }
  return `${trimLines(table.toString())}\n`;
}

/** Two columns, label and text, as in the view of one thing. */
export function renderPairs(
  pairs: readonly (readonly [string, string])[],
  terminal: Terminal,
  indent = '',
): string {
  const labels = Math.max(0, ...pairs.map(([label]) => widthOf(label)));
  const room = Math.max(20, terminal.columns - labels - indent.length - GAP);
  const table = plainTable();
  for (const [label, text] of pairs) table.push([terminal.style('dim', label), truncate(text, room)]);
  const lines = trimLines(table.toString()).split('\n');
  return `${lines.map((line) => `${indent}${line}`).join('\n')}\n`;
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

/** Natural widths, then the widest cuttable column gives way until the row fits. */
function fitWidths<T>(columns: readonly Column<T>[], cells: readonly string[][], room: number): number[] {
  const widths = columns.map((column, i) =>
    Math.max(widthOf(column.header), ...cells.map((row) => widthOf(row[i] ?? ''))),
  );
  const total = () => widths.reduce((sum, width) => sum + width, 0) + GAP * (columns.length - 1);
  while (total() > room) {
    let widest = -1;
    for (const [i, column] of columns.entries()) {
      const width = widths[i] ?? 0;
      if (!column.fixed && width > LEAST && width > (widths[widest] ?? LEAST)) widest = i;
    }
    if (widest < 0) break;
    const excess = total() - room;
    const next = Math.max(
      LEAST,
      ...columns.map((column, i) => (i !== widest && !column.fixed ? (widths[i] ?? 0) : 0)),
    );
    const width = widths[widest] ?? LEAST;
    widths[widest] = Math.max(LEAST, width - excess, Math.min(next, width - 1));
  }
  return widths;
}
