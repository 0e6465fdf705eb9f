import { withoutFormula } from '../kernel/text/formula.ts';
import { FieldCheck, fieldColumns, pickFields } from './fields.ts';
import { jsonText, writeJsonArray } from './json.ts';
import { exactText, renderTable, type TableColumn } from './table.ts';
import { errColumns, type Terminal } from './terminal.ts';
import { paragraph, safeLine } from './text.ts';

export type Items<T> = AsyncIterable<T> | Iterable<T>;

export interface ListFormat {
  json?: boolean | undefined;
  csv?: boolean | undefined;
  quiet?: boolean | undefined;
  fields?: string | undefined;
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
  { json, csv, quiet, fields }: ListFormat,
  { outIsTty }: Pick<Terminal, 'outIsTty'>,
): boolean {
  return outIsTty && !json && !csv && !quiet && fields === undefined;
}

/**
 * Writes a list as IDs, a JSON array, CSV, a table on a terminal, or tab-separated lines in a pipe.
 * Except for the table, items are written as they arrive.
 */
export async function writeList<T>(
  items: Items<T>,
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

async function* seenBy<T>(check: FieldCheck, items: Items<T>): AsyncGenerator<T, void, undefined> {
  for await (const item of items) {
    check.see(item);
    yield item;
  }
}

async function writeItems<T>(
  items: Items<T>,
  view: ListView<T>,
  chosen: readonly TableColumn<T>[] | undefined,
  format: ListFormat,
  terminal: Terminal,
): Promise<void> {
  const columns = chosen ?? view.columns;
  if (format.quiet) return writeAllIds(items, view, terminal);
  const shape = (item: T) => (chosen ? pickFields(item, chosen) : item);
  if (format.json) return writeJsonArray(items, (item) => jsonText(shape(item), 2), terminal);
  if (format.csv) return writeCsv(items, columns, terminal);
  if (terminal.outIsTty) return writeTable(items, chosen ?? view.shown ?? columns, view.empty, terminal);
  return writeLines(
    items,
    (item) => columns.map((column) => exactText(item, column).replace(/[\t\r\n]+/g, ' ')).join('\t'),
    terminal,
  );
}

/** Writes IDs for another command: none if the list can't be read to its end, because a part of it would look like all. */
async function writeAllIds<T>(items: Items<T>, view: ListView<T>, terminal: Terminal): Promise<void> {
  const ids: string[] = [];
  for await (const item of items) ids.push(view.id(item));
  await writeIds(ids, terminal);
}

export function writeIds(ids: readonly string[], terminal: Terminal): Promise<void> {
  return writeLines(ids, (id) => id, terminal);
}

async function writeLines<T>(items: Items<T>, line: (item: T) => string, terminal: Terminal): Promise<void> {
  for await (const item of items) await terminal.out(`${safeLineExceptTab(line(item))}\n`);
}

/** Cleans the cells of a line, because a pipe may end on a terminal (`| less`). */
function safeLineExceptTab(line: string): string {
  return line.split('\t').map(safeLine).join('\t');
}

/** Formats a CSV cell. Line breaks and tabs are kept; other characters that could affect a terminal are made visible, even in a pipe. */
function csvCell(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map(safeLineExceptTab)
    .join('\n');
}

async function writeCsv<T>(
  items: Items<T>,
  columns: readonly TableColumn<T>[],
  terminal: Terminal,
): Promise<void> {
  const { stringify } = await import('csv-stringify/sync');
  let header = true;
  for await (const item of items) {
    const rows = header ? [columns.map((column) => column.key)] : [];
    rows.push(columns.map((column) => csvCell(withoutFormula(exactText(item, column)))));
    await terminal.out(stringify(rows));
    header = false;
  }
  if (header) await terminal.out(stringify([columns.map((column) => column.key)]));
}

async function writeTable<T>(
  items: Items<T>,
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
