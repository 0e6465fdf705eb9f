import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { codeOf } from '../kernel/errors.ts';
import { isList, isRecord } from '../kernel/json.ts';
import { type TableRecord, UnreadableRow } from './table-types.ts';

export const DELIMITERS = [',', ';', '\t', '|'];
/** The maximum length of a row, since a quote that is never closed would put the rest of the file into one cell. */
const MAX_ROW_LENGTH = 1_000_000;
const MAX_LINE_LENGTH = 65_536;

/** The delimiter of a CSV text, and whether the first line names it (`sep=;`), as spreadsheet programs write it. */
export interface Dialect {
  delimiter: string;
  isNamed: boolean;
}

/** Detects the dialect from the beginning of the text, unless the delimiter is given. */
export function dialectOf(head: string, delimiter?: string): Dialect {
  const named = /^sep=(.)(?:[\r\n]|$)/.exec(head)?.[1];
  return { delimiter: delimiter ?? named ?? delimiterOf(head), isNamed: named !== undefined };
}

/** Returns the delimiter that occurs most often in the header, outside quotes. */
function delimiterOf(head: string): string {
  const [line = ''] = head
    .replace(/^\s*[\r\n]/, '')
    .replaceAll(/"[^"]*"/g, '')
    .split(/[\r\n]/);
  const counts = DELIMITERS.map((one) => line.split(one).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/**
 * Returns the text at least up to the end of the first line that isn't blank (or 65,536 characters), and the whole text including
 * this part.
 */
export async function peekFirstLine(
  text: AsyncIterable<string>,
): Promise<{ head: string; all: AsyncIterable<string> }> {
  const source = text[Symbol.asyncIterator]();
  let head = '';
  while (!head.trimStart().includes('\n') && head.length < MAX_LINE_LENGTH) {
    const next = await source.next();
    if (next.done) break;
    head += next.value;
  }
  async function* all(): AsyncGenerator<string, void, undefined> {
    if (head !== '') yield head;
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  }
  return { head, all: all() };
}

/**
 * Yields the records of a CSV text that are not blank, without the line that names the delimiter.
 * @throws UnreadableRow where a quote is wrong.
 */
export async function* csvRecords(
  text: AsyncIterable<string>,
  { delimiter, isNamed }: Dialect,
): AsyncGenerator<TableRecord, void, undefined> {
  // After an error, rows that were parsed but not yet yielded are lost, so lines are counted as they are parsed.
  let read = 0;
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    max_record_size: MAX_ROW_LENGTH,
    on_record: (record, { lines }) => {
      read = lines;
      return record;
    },
  });
  // The loop below also gets the error.
  pipeline(Readable.from(text), parser).catch(() => undefined);
  let line = 1;
  try {
    for await (const item of parser) {
      const { cells, lines } = readItem(item);
      const isDialect = isNamed && line === 1;
      if (!isDialect && !isBlank(cells)) yield { cells, line };
      line = lines + 1;
    }
  } catch (error) {
    if (error instanceof CsvError)
      throw new UnreadableRow({ line: read + 1, column: '', text: reasonOf(error) });
    throw error;
  }
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '');
}

function readItem(item: unknown): { cells: string[]; lines: number } {
  const { record, info } = isRecord(item) ? item : {};
  if (!isList(record) || !isRecord(info)) return { cells: [], lines: 0 };
  return { cells: record.map(String), lines: Number(info.lines) };
}

function reasonOf(error: Error): string {
  const code = codeOf(error);
  if (code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE')
    return 'a quote is opened here and never closed; close it, and double quotes inside a quoted cell ("")';
  if (code === 'CSV_INVALID_CLOSING_QUOTE')
    return 'there is a space or text after a closing quote; remove it, or double the quotes inside the cell ("")';
  if ('field' in error && typeof error.field === 'string' && error.field.trim() === '')
    return 'there is a space before a quote; remove the space';
  return 'there is a quote inside a cell; put the whole cell in quotes and double the quotes inside it ("")';
}
