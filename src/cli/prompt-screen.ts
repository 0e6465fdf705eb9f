import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { widthOf } from '../output/text.ts';

/** What the prompt library writes before each frame: down to the last line of the one before, then erase line by line. */
const OVERWRITE = /^(?:\u001b\[(\d+)B)?(?:\u001b\[2K(?:\u001b\[1A)?)+\u001b\[G/;
/** What it writes after it: up to the line of the cursor, then to its column. */
const PLACE_CURSOR = /(?:\u001b\[(\d+)A)?\u001b\[(\d+)G$/;

const DEFAULT_COLUMNS = 80;

/**
 * Where a question is drawn: the terminal at stderr. The library counts on its lines staying where they are; after a
 * change of width they are wrapped anew, and this erases what is really there. Knows what is left on the screen at the end.
 */
export class PromptScreen extends Writable {
  readonly #terminal: NodeJS.WriteStream;
  #drawnAt: number;
  #lines: string[] = [];
  #cursor = { line: 0, column: 0 };

  constructor(terminal: NodeJS.WriteStream = process.stderr) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
    this.#drawnAt = this.columns;
  }

  /** The library wraps at this width. */
  get columns(): number {
    return this.#terminal.columns || DEFAULT_COLUMNS;
  }

  /** The lines of what was drawn last. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  override _write(chunk: unknown, _encoding: string, done: (error?: Error | null) => void): void {
    this.#terminal.write(this.#mended(String(chunk)));
    done();
  }

  /** The library's output, with the erasing made to fit what is on the screen. */
  #mended(output: string): string {
    const begin = OVERWRITE.exec(output)?.[0] ?? '';
    const isFrame = PLACE_CURSOR.test(output) && (begin !== '' || this.#lines.length === 0);
    if (!isFrame) return output;
    const frame = output.slice(begin.length);
    const erase = this.#drawnAt === this.columns ? begin : this.#eraseWrapped();
    this.#remember(frame);
    return `${erase}${frame}`;
  }

  #eraseWrapped(): string {
    const { line, column } = this.#cursor;
    const above = rowsOf(this.#lines.slice(0, line), this.columns) + Math.floor(column / this.columns);
    return `${above > 0 ? `\u001b[${above}A` : ''}\r\u001b[J`;
  }

  #remember(frame: string): void {
    const [, up = '0', column = '1'] = PLACE_CURSOR.exec(frame) ?? [];
    this.#lines = stripVTControlCharacters(frame).split('\n');
    this.#cursor = { line: Math.max(0, this.#lines.length - 1 - Number(up)), column: Number(column) - 1 };
    this.#drawnAt = this.columns;
  }
}

/** How many rows of a terminal the lines take. */
export function rowsOf(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
}
