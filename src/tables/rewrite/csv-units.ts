import { UsageError } from '../../kernel/errors.ts';

/** A record of CSV text that is not decoded yet, with the positions of its cells, so that they can be replaced one by one. */
export interface RawRecord {
  /** The text without the line break. */
  units: string;
  lineBreak: string;
  cells: readonly (readonly [from: number, to: number])[];
  line: number;
}

/** The maximum length of a record, for a quote that is never closed (as in csv-records.ts). */
const MAX_RECORD_LENGTH = 1_000_000;

/** Yields the records of CSV text in code units. Joined again, they are exactly the text. */
export async function* rawRecords(
  pieces: AsyncIterable<string>,
  delimiter: string,
  name: string,
): AsyncGenerator<RawRecord, void, undefined> {
  const scanner = new Scanner(delimiter);
  for await (const piece of pieces) {
    yield* scanner.records(piece, false);
    if (scanner.held > MAX_RECORD_LENGTH + piece.length)
      throw new UsageError(`${name}:${scanner.line}: a quote is opened here and never closed.`, {
        hint: 'Close the quote, or double it if it is part of the text.',
      });
  }
  yield* scanner.records('', true);
}

class Scanner {
  /** The line of the record that is not complete yet. */
  line = 1;
  #rest = '';
  readonly #delimiter: string;
  readonly #cell: RegExp;
  readonly #quotedCell: RegExp;

  constructor(delimiter: string) {
    const end = `${delimiter.replace(/[\\\]^|-]/, '\\$&')}\r\n`;
    this.#delimiter = delimiter;
    this.#cell = new RegExp(`[^${end}]*`, 'y');
    // Text after the closing quote is kept, including any quotes in it.
    this.#quotedCell = new RegExp(`(?:"[^"]*"|[^"${end}]+)*`, 'y');
  }

  get held(): number {
    return this.#rest.length;
  }

  *records(piece: string, isLast: boolean): Generator<RawRecord, void, undefined> {
    this.#rest += piece;
    for (let record = this.#next(isLast); record !== undefined; record = this.#next(isLast)) {
      yield { ...record, line: this.line };
      this.line += linesIn(record.units + record.lineBreak);
      this.#rest = this.#rest.slice(record.units.length + record.lineBreak.length);
    }
  }

  /** Returns the first record of the text held, or undefined if it is not complete yet. */
  #next(isLast: boolean): Omit<RawRecord, 'line'> | undefined {
    const text = this.#rest;
    const cells: [number, number][] = [];
    let start = 0;
    let end = this.#cellEnd(text, start);
    for (; text.charAt(end) === this.#delimiter; end = this.#cellEnd(text, start)) {
      cells.push([start, end]);
      start = end + 1;
    }
    // The second half of a line break may follow in the next chunk.
    const mayContinue = end === text.length || (text.charAt(end) === '\r' && end + 1 === text.length);
    if ((mayContinue && !isLast) || text === '') return undefined;
    const lineBreak = text.startsWith('\r\n', end) ? '\r\n' : text.charAt(end);
    return { units: text.slice(0, end), lineBreak, cells: [...cells, [start, end]] };
  }

  #cellEnd(text: string, start: number): number {
    const pattern = text.charAt(start) === '"' ? this.#quotedCell : this.#cell;
    pattern.lastIndex = start;
    const end = start + (pattern.exec(text)?.[0].length ?? 0);
    // The quote is not closed.
    return text.charAt(end) === '"' ? text.length : end;
  }
}

function linesIn(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}

/** Returns the text of a cell without quotes and with uniform line breaks. */
export function unquoted(cell: string): string {
  const inner = cell.startsWith('"')
    ? cell.slice(1, cell.endsWith('"') ? -1 : undefined).replaceAll('""', '"')
    : cell;
  return inner.replace(/\r\n?/g, '\n');
}

/** Returns the text of a cell, in quotes if it needs them. */
export function quoted(text: string, delimiter: string): string {
  return text.includes(delimiter) || /["\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
