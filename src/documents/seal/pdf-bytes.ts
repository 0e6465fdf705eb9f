import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { blocksOf } from '../../kernel/files/regular-file.ts';
import { CutShortError, PdfParser } from './pdf-parser.ts';
import { type PdfValue, UnreadablePdfError } from './pdf-values.ts';

/** Most papers are smaller: they are read at once, which takes less than coming back for parts. */
const SMALL = 512 * 1024;
/** Room for them that is used again: new memory for each takes longer than reading it. */
const rooms: Buffer[] = [];
const PAGE_BYTES = 64 * 1024;
const PAGES_KEPT = 64;
const FIRST_WINDOW = 4 * 1024;
/** An object without its stream's data; a seal of a megabyte is far beyond what there is. */
const LARGEST_WINDOW = 4 * 1024 * 1024;
/** What one file may take, in ms: hostile ones are made to take for ever. */
const LONGEST_MS = 8_000;
/** What may be kept of one file while it is read: the cross references of a million objects take seven. */
const LARGEST_KEPT = 64 * 1024 * 1024;

/** The bytes of a PDF file, of which only what is asked for is read, in bounded memory and time. */
export class PdfBytes {
  readonly size: number;
  readonly #descriptor: number;
  /** Of a small file: where its bytes are until it is closed. */
  readonly #room: Buffer | undefined;
  readonly #whole: Buffer | undefined;
  readonly #pages = new Map<number, Buffer>();
  readonly #elapsed: () => number;
  readonly #deadline: number;
  #kept = 0;

  /**
   * `elapsed` tells the time in ms, and never goes back.
   * @throws the system's error when the file can't be opened, UnreadablePdfError when it is no PDF.
   */
  constructor(path: string, elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed;
    this.#deadline = elapsed() + LONGEST_MS;
    this.#descriptor = openSync(path, 'r');
    this.size = fstatSync(this.#descriptor).size;
    if (this.size <= SMALL) {
      this.#room = rooms.pop() ?? Buffer.allocUnsafeSlow(SMALL);
      this.#whole = this.#fill(this.#room.subarray(0, this.size), 0);
    }
    if (this.read(0, 5).toString('latin1') === '%PDF-') return;
    this.close();
    throw new UnreadablePdfError('The file is not a PDF: it does not begin with %PDF-.');
  }

  /** What was read is no more to be looked at. */
  close(): void {
    if (this.#room !== undefined) rooms.push(this.#room);
    closeSync(this.#descriptor);
  }

  /** @throws UnreadablePdfError when the file took too long. */
  checkTime(): void {
    if (this.#elapsed() > this.#deadline)
      throw new UnreadablePdfError('The file is made so that reading it takes too long.');
  }

  /** Counts what is kept until the file is closed. @throws UnreadablePdfError when it is too much. */
  keep(bytes: number): void {
    this.#kept += bytes;
    if (this.#kept > LARGEST_KEPT)
      throw new UnreadablePdfError('The file is made so that reading it takes too much memory.');
  }

  /** The bytes from there on, fewer at the end of the file; valid until it is closed. @throws UnreadablePdfError when the file took too long. */
  read(at: number, length: number): Buffer {
    this.checkTime();
    if (this.#whole !== undefined) return this.#whole.subarray(at, at + length);
    const end = Math.min(this.size, at + length);
    const parts: Buffer[] = [];
    for (let from = at; from < end; ) {
      const page = Math.floor(from / PAGE_BYTES);
      const bytes = this.#page(page).subarray(from - page * PAGE_BYTES, end - page * PAGE_BYTES);
      if (bytes.length === 0) break;
      parts.push(bytes);
      from += bytes.length;
    }
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  /** All bytes from there to there, in blocks of which each is only valid until the next one. */
  blocks(start: number, end: number): AsyncIterable<Buffer> | Iterable<Buffer> {
    if (this.#whole !== undefined) return [this.#whole.subarray(start, end)];
    return blocksOf(this.#descriptor, Math.min(this.size, end), start);
  }

  /** Parses what stands there, with as much of the file as that needs. @throws UnreadablePdfError. */
  parse<T>(at: number, parse: (parser: PdfParser) => T): T {
    if (at < 0 || at >= this.size) throw new UnreadablePdfError('The file points to a place outside itself.');
    for (let window = FIRST_WINDOW; window <= LARGEST_WINDOW; window *= 4) {
      const bytes = this.read(at, window);
      const isWhole = at + bytes.length >= this.size;
      const parsed = attempt(() => parse(new PdfParser(isWhole ? ended(bytes) : bytes, at)));
      if (parsed !== undefined) return parsed.value;
      if (isWhole) throw new UnreadablePdfError('The file is cut short.');
    }
    throw new UnreadablePdfError('An object of the file is too large.');
  }

  /** The object that begins there. @throws UnreadablePdfError when it is another one. */
  object(at: number, number: number): PdfValue {
    const found = this.parse(at, (parser) => parser.object());
    if (found.number !== number) throw new UnreadablePdfError(`Object ${number} is not where the file says.`);
    return found.value;
  }

  #page(number: number): Buffer {
    const known = this.#pages.get(number);
    if (known) return known;
    if (this.#pages.size >= PAGES_KEPT) this.#pages.clear();
    const at = number * PAGE_BYTES;
    const page = this.#fill(Buffer.allocUnsafe(Math.max(0, Math.min(PAGE_BYTES, this.size - at))), at);
    this.#pages.set(number, page);
    return page;
  }

  /** Reads as much as there is room for, fewer at the end of the file. */
  #fill(room: Buffer, at: number): Buffer {
    return room.subarray(0, readSync(this.#descriptor, room, 0, room.length, at));
  }
}

/** Bytes after which nothing comes: a word at their end ends there. */
export function ended(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(16, '\n')]);
}

/** What was parsed; undefined where the bytes end too early. */
function attempt<T>(parse: () => T): { value: T } | undefined {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof CutShortError) return undefined;
    throw error;
  }
}
