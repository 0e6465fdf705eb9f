import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { widthOf } from '../../output/text.ts';
import type { Paint } from './theme.ts';

/** What the prompt library writes before a frame: down to the last line of the one before, then erase line by line. */
const OVERWRITE = /^(?:\u001b\[\d+B)?(?:\u001b\[2K(?:\u001b\[1A)?)+\u001b\[G/;
/** What it writes after a frame: up to the line of the cursor, then to its column. */
const PLACE_CURSOR = /(?:\u001b\[(\d+)A)?\u001b\[(\d+)G$/;
/** What it writes when the question is over: below the last frame, or in its place. */
const DONE = /^(?:\u001b\[\d+B)?(\n|(?:\u001b\[2K(?:\u001b\[1A)?)+\u001b\[G)\u001b\[\?25h$/;
const COLOURS = /\u001b\[[\d;]*m/g;
const SHOW_CURSOR = '\u001b[?25h';
/** So wide that the library never wraps. */
const UNBOUNDED = 10_000;
const DEFAULT_COLUMNS = 80;

/**
 * Where a question is drawn: the terminal at stderr. The library counts lines as if they never wrapped anew; so it is
 * told of no width at all, and what becomes of its lines on the screen, also after a change of width, is reckoned here.
 */
export class PromptScreen extends Writable {
  /** Read by the library. */
  readonly columns = UNBOUNDED;
  readonly #terminal: NodeJS.WriteStream;
  /** The library has its own idea of when. */
  readonly #isColoured: boolean;
  #lines: readonly string[] = [];
  /** Of the cursor, in the lines as they are when nothing wraps. */
  #line = 0;
  #column = 0;

  constructor(paint: Paint, terminal: NodeJS.WriteStream = process.stderr) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
    this.#isColoured = paint('dim', 'x') !== 'x';
    terminal.on('resize', this.#onResize);
  }

  /** The lines of what was drawn last. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  override _write(chunk: unknown, _encoding: string, done: (error?: Error | null) => void): void {
    this.#terminal.write(this.#onScreen(String(chunk)));
    done();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#terminal.off('resize', this.#onResize);
    done();
  }

  readonly #onResize = () => {
    if (this.#lines.length > 0) this.#terminal.write(`${this.#erased()}${this.#drawn()}`);
  };

  /** The library's output, as it must be for this screen. */
  #onScreen(output: string): string {
    const end = DONE.exec(output);
    if (end) {
      this.#terminal.off('resize', this.#onResize);
      return end[1] === '\n' ? `${this.#toTheEnd()}\n${SHOW_CURSOR}` : `${this.#erased()}${SHOW_CURSOR}`;
    }
    const place = PLACE_CURSOR.exec(output);
    if (!place) return output;
    const erased = this.#erased();
    const painted = output.slice(0, place.index).replace(OVERWRITE, '');
    const frame = this.#isColoured ? painted : painted.replace(COLOURS, '');
    if (frame !== '') this.#lines = frame.split('\n');
    if (frame !== '') this.#line = Math.max(0, this.#lines.length - 1 - Number(place[1] ?? 0));
    this.#column = Number(place[2]) - 1;
    return `${erased}${this.#drawn()}`;
  }

  get #width(): number {
    return this.#terminal.columns || DEFAULT_COLUMNS;
  }

  /** From the cursor to the first row of the frame, and nothing is left of it. */
  #erased(): string {
    return this.#lines.length === 0 ? '' : `${up(this.#cursorRow())}\r\u001b[J`;
  }

  #drawn(): string {
    const rows = this.#lines.map((line, index) => this.#rowsOfLine(line, index));
    const text = this.#lines.map((line, index) => {
      // The cursor stands behind a line that fills its row: the row below is its place.
      const isFull = (rows[index] ?? 1) > rowsOf([line], this.#width);
      return isFull ? `${line}\n` : line;
    });
    const below = sum(rows) - 1 - this.#cursorRow();
    return `${text.join('\n')}${up(below)}\u001b[${(this.#column % this.#width) + 1}G`;
  }

  #toTheEnd(): string {
    const below =
      sum(this.#lines.map((line, index) => this.#rowsOfLine(line, index))) - 1 - this.#cursorRow();
    return below > 0 ? `\u001b[${below}B` : '';
  }

  #rowsOfLine(line: string, index: number): number {
    const rows = rowsOf([line], this.#width);
    return index === this.#line ? Math.max(rows, Math.floor(this.#column / this.#width) + 1) : rows;
  }

  #cursorRow(): number {
    return rowsOf(this.#lines.slice(0, this.#line), this.#width) + Math.floor(this.#column / this.#width);
  }
}

/** How many rows of a terminal the lines take. */
export function rowsOf(lines: readonly string[], width: number): number {
  return sum(lines.map((line) => Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / width))));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : '';
}
