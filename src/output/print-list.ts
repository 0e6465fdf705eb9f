import { valueAt } from '../kernel/json.ts';
import { csvRecord } from '../tables/csv-text.ts';
import { csvText, type TableCell } from '../tables/table-cell.ts';
import { FieldCheck, fieldColumns, pickFields } from './fields.ts';
import { jsonText, writeJsonArray } from './json.ts';
import type { NewTable } from './new-table.ts';
import { exactText, renderTable, type TableColumn } from './table.ts';
import { errColumns, type Terminal } from './terminal.ts';
import { paragraph, safeLine } from './text.ts';

export type ListItems<T> = AsyncIterable<T> | Iterable<T>;

export interface ListFormat {
  json?: boolean | undefined;
  csv?: boolean | undefined;
  quiet?: boolean | undefined;
  fields?: string | undefined;
  /** The file that is written instead of stdout. */
  table?: NewTable | undefined;
}

export interface ListView<T> {
  columns: readonly TableColumn<T>[];
  /** Columns of the table on a terminal, most important first (default: `columns`). */
  shown?: readonly TableColumn<T>[];
  id(item: T): string;
  /** The text on stderr of a terminal if the list is empty, with a suggestion of what to do next. */
  empty?: string | undefined;
}

/** Returns true if a person reads the list: on a terminal, without a flag for another format. */
export function isTableOutput(
  { json, csv, quiet, fields, table }: ListFormat,
  { outIsTty }: Pick<Terminal, 'outIsTty'>,
): boolean {
  return outIsTty && !json && !csv && !quiet && fields === undefined && table === undefined;
}

/**
 * Writes a list as IDs, a JSON array, CSV, a table on a terminal, or tab-separated lines in a pipe, or to a file.
 * Except for the table and the file, items are written as they arrive.
 */
export async function writeList<T>(
  items: ListItems<T>,
  view: ListView<T>,
  format: ListFormat,
  terminal: Terminal,
): Promise<void> {
  const chosen = format.fields === undefined ? undefined : fieldColumns<T>(format.fields);
  const check = new FieldCheck(chosen?.map(({ key }) => key) ?? []);
  await writeItems(chosen ? seenBy(check, items) : items, view, chosen, format, terminal);
  const notice = check.notice();
  if (notice !== undefined) writeNotice(notice, terminal);
}

async function* seenBy<T>(check: FieldCheck, items: ListItems<T>): AsyncGenerator<T, void, undefined> {
  for await (const item of items) {
    check.see(item);
    yield item;
  }
}

async function writeItems<T>(
  items: ListItems<T>,
  view: ListView<T>,
  chosen: readonly TableColumn<T>[] | undefined,
  format: ListFormat,
  terminal: Terminal,
): Promise<void> {
  const columns = chosen ?? view.columns;
  if (format.quiet) return writeAllIds(items, view, terminal);
  const shape = (item: T) => (chosen ? pickFields(item, chosen) : item);
  if (format.json) return writeJsonArray(items, (item) => jsonText(shape(item), 2), terminal);
  if (format.table) return writeFile(items, columns, format.table, terminal);
  if (format.csv) return writeCsv(items, columns, terminal);
  if (terminal.outIsTty) return writeTable(items, chosen ?? view.shown ?? columns, view.empty, terminal);
  return writeLines(
    items,
    (item) => columns.map((column) => exactText(item, column).replace(/[\t\r\n]+/g, ' ')).join('\t'),
    terminal,
  );
}

/** Writes IDs for another command: none if the list can't be read to its end, because a part of it would look like all. */
async function writeAllIds<T>(items: ListItems<T>, view: ListView<T>, terminal: Terminal): Promise<void> {
  const ids: string[] = [];
  for await (const item of items) ids.push(view.id(item));
  await writeIds(ids, terminal);
}

export function writeIds(ids: readonly string[], terminal: Terminal): Promise<void> {
  return writeLines(ids, (id) => id, terminal);
}

async function writeLines<T>(
  items: ListItems<T>,
  line: (item: T) => string,
  terminal: Terminal,
): Promise<void> {
  for await (const item of items) await terminal.out(`${safeLineExceptTab(line(item))}\n`);
}

/** Cleans the cells of a line, because a pipe may end on a terminal (`| less`). */
function safeLineExceptTab(line: string): string {
  return line.split('\t').map(safeLine).join('\t');
}

async function writeCsv<T>(
  items: ListItems<T>,
  columns: readonly TableColumn<T>[],
  terminal: Terminal,
): Promise<void> {
  const write = (cells: readonly string[]) => terminal.out(csvRecord(cells, ',', '\n'));
  await write(columns.map(({ key }) => key));
  for await (const item of items) await write(columns.map((column) => csvText(cellOf(item, column))));
}

async function writeFile<T>(
  items: ListItems<T>,
  columns: readonly TableColumn<T>[],
  table: NewTable,
  terminal: Terminal,
): Promise<void> {
  table.add(columns.map(({ key }) => ({ text: key })));
  for await (const item of items) table.add(columns.map((column) => cellOf(item, column)));
  writeNotice(await table.save(), terminal);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** Returns the cell of an item: its exact text, and whether it is a number or a time. */
function cellOf<T>(item: T, column: TableColumn<T>): TableCell {
  const text = exactText(item, column);
  const isNumber = column.value === undefined && typeof valueAt(item, column.key) === 'number';
  return { text, kind: isNumber ? 'number' : TIME.test(text) ? 'time' : undefined };
}

async function writeTable<T>(
  items: ListItems<T>,
  columns: readonly TableColumn<T>[],
  empty: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const rows: T[] = [];
  for await (const item of items) rows.push(item);
  if (rows.length === 0 && empty !== undefined) writeNotice(empty, terminal);
  if (rows.length > 0) await terminal.out(renderTable(rows, columns, terminal));
}

function writeNotice(text: string, terminal: Terminal): void {
  terminal.err(`${paragraph(safeLine(text), errColumns())}\n`);
}
