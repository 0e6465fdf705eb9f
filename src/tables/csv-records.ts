import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { codeOf } from '../kernel/errors.ts';
import { isList, isRecord } from '../kernel/json.ts';
import { UnreadableRow } from './finding.ts';
import type { TableRecord } from './record.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** A quote that is never closed would take the rest of the file into one cell. */
const LONGEST_ROW = 1_000_000;
const LONGEST_LINE = 65_536;

/** The delimiter of a CSV text, and whether its first line names it, as spreadsheet programs write it. */
export interface Dialect {
  delimiter: string;
  isNamed: boolean;
}

/** The dialect, by the beginning of the text. */
export function dialectOf(head: string): Dialect {
  const named = /^sep=(.)\r?(?:\n|$)/.exec(head)?.[1];
  return { delimiter: named ?? delimiterOf(head), isNamed: named !== undefined };
}

/** The delimiter that the header has most of, outside quotes. */
function delimiterOf(head: string): string {
  const [line = ''] = head.replaceAll(/"[^"]*"/g, '').split(/[\r\n]/);
  const counts = DELIMITERS.map((one) => line.split(one).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** The text up to the first line break, and the whole text again. */
export async function peek(
  text: AsyncIterable<string>,
): Promise<{ head: string; all: AsyncIterable<string> }> {
  const source = text[Symbol.asyncIterator]();
  let head = '';
  while (!head.includes('\n') && head.length < LONGEST_LINE) {
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
 * The records of a CSV text that have a cell, the line that names the delimiter left out.
 * @throws UnreadableRow where a quote is wrong.
 */
export async function* csvRecords(
  text: AsyncIterable<string>,
  { delimiter, isNamed }: Dialect,
): AsyncGenerator<TableRecord, void, undefined> {
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

/** True when no cell has a text. */
export function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '');
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
