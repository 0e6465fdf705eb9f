import { closeSync, fstatSync, openSync, type PathLike, readSync } from 'node:fs';
import { blocksOf } from '../../kernel/files/regular-file.ts';
import { CutShortError, PdfParser } from './pdf-parser.ts';
import { type PdfValue, UnreadablePdfError } from './pdf-values.ts';

/** Most documents are smaller: they are read in one call, which takes less time than reading parts. */
const SMALL = 512 * 1024;
/** Buffers for them that are reused: allocating one takes longer than reading the file. */
const rooms: Buffer[] = [];
const PAGE_BYTES = 64 * 1024;
const PAGES_KEPT = 64;
const FIRST_WINDOW = 4 * 1024;
/** An object without its stream's data; a signature of a megabyte is far beyond what exists. */
const LARGEST_WINDOW = 4 * 1024 * 1024;
/**
 * The work one file may cause: about one unit per byte that is parsed or unpacked. Hostile files are made to run forever.
 * Work is counted, not time: the same file gets the same verdict on any machine under any load.
 */
const MAX_WORK = 256 * 1024 * 1024;
/** The work of a read or a lookup, whatever its size. */
const CALL_WORK = 64;
/** What may be kept in memory of one file: the cross-references of a million objects take 7 MB. */
const LARGEST_KEPT = 64 * 1024 * 1024;

/** An open file, with what was read from it and the work that took. */
class OpenFile {
  readonly size: number;
  readonly descriptor: number;
  /** The bytes of a small file. */
  readonly whole: Buffer | undefined;
  readonly #isOwn: boolean;
  readonly #room: Buffer | undefined;
  readonly #pages = new Map<number, Buffer>();
  #work = 0;
  #kept = 0;

  constructor(source: PathLike | number) {
    this.#isOwn = typeof source !== 'number';
    this.descriptor = typeof source === 'number' ? source : openSync(source, 'r');
    this.size = fstatSync(this.descriptor).size;
    if (this.size > SMALL) return;
    this.#room = rooms.pop() ?? Buffer.allocUnsafeSlow(SMALL);
    this.whole = this.#fill(this.#room.subarray(0, this.size), 0);
  }

  close(): void {
    if (this.#room !== undefined) rooms.push(this.#room);
    if (this.#isOwn) closeSync(this.descriptor);
  }

  work(units: number): void {
    this.#work += units;
    if (this.#work > MAX_WORK) throw new UnreadablePdfError('Reading the file takes too much work.');
  }

  keep(bytes: number): void {
    this.#kept += bytes;
    if (this.#kept > LARGEST_KEPT) throw new UnreadablePdfError('Reading the file takes too much memory.');
  }

  page(number: number): Buffer {
    const known = this.#pages.get(number);
    if (known) return known;
    if (this.#pages.size >= PAGES_KEPT) this.#pages.clear();
    const at = number * PAGE_BYTES;
    const page = this.#fill(Buffer.allocUnsafe(Math.max(0, Math.min(PAGE_BYTES, this.size - at))), at);
    this.#pages.set(number, page);
    return page;
  }

  /** Reads as much as there is room for, less at the end of the file. */
  #fill(room: Buffer, at: number): Buffer {
    return room.subarray(0, readSync(this.descriptor, room, 0, room.length, at));
  }
}

/** The bytes of a PDF file. Only what is needed is read, with bounded memory and work. */
export class PdfBytes {
  readonly size: number;
  readonly #file: OpenFile;

  private constructor(file: OpenFile, size: number) {
    this.#file = file;
    this.size = size;
  }

  /**
   * Opens a file by its path, or reads one that is open by its descriptor, which stays the caller's to close.
   * @throws the system's error when the file can't be opened, UnreadablePdfError when it is not a PDF.
   */
  static open(source: PathLike | number): PdfBytes {
    const file = new OpenFile(source);
    const bytes = new PdfBytes(file, file.size);
    if (bytes.read(0, 5).toString('latin1') === '%PDF-') return bytes;
    file.close();
    throw new UnreadablePdfError('The file is not a PDF: it does not begin with %PDF-.');
  }

  /** Returns the same file as if it ended there. */
  until(end: number): PdfBytes {
    return new PdfBytes(this.#file, Math.min(end, this.size));
  }

  /** Ends the use of everything that was read. */
  close(): void {
    this.#file.close();
  }

  /** Counts work. @throws UnreadablePdfError when it is too much. */
  work(units: number): void {
    this.#file.work(units + CALL_WORK);
  }

  /** Counts what is kept until the file is closed. @throws UnreadablePdfError when it is too much. */
  keep(bytes: number): void {
    this.#file.keep(bytes);
  }

  /** Returns the bytes from an offset, fewer at the end of the file; valid until it is closed. @throws UnreadablePdfError. */
  read(at: number, length: number): Buffer {
    this.work(0);
    const end = Math.min(this.size, at + length);
    const { whole } = this.#file;
    if (whole !== undefined) return whole.subarray(Math.min(at, end), end);
    const parts: Buffer[] = [];
    for (let from = at; from < end; ) {
      const page = Math.floor(from / PAGE_BYTES);
      const bytes = this.#file.page(page).subarray(from - page * PAGE_BYTES, end - page * PAGE_BYTES);
      if (bytes.length === 0) break;
      parts.push(bytes);
      from += bytes.length;
    }
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  /** Returns all bytes of a range in blocks; a block is only valid until the next one. */
  blocks(start: number, end: number): AsyncIterable<Buffer> | Iterable<Buffer> {
    const { whole, descriptor } = this.#file;
    const last = Math.min(this.size, end);
    return whole === undefined ? blocksOf(descriptor, last, start) : [whole.subarray(start, last)];
  }

  /** Parses what is at an offset, with as much of the file as that needs. @throws UnreadablePdfError. */
  parse<T>(at: number, parse: (parser: PdfParser) => T): T {
    if (at < 0 || at >= this.size)
      throw new UnreadablePdfError('The file points to an offset outside itself.');
    for (let window = FIRST_WINDOW; window <= LARGEST_WINDOW; window *= 4) {
      const bytes = this.read(at, window);
      const isWhole = at + bytes.length >= this.size;
      const parser = new PdfParser(isWhole ? ended(bytes) : bytes, { offset: at });
      const parsed = attempt(() => parse(parser));
      this.work(parser.position - at);
      if (parsed !== undefined) return parsed.value;
      if (isWhole) throw new UnreadablePdfError('The file is cut short.');
    }
    throw new UnreadablePdfError('An object of the file is too large.');
  }

  /** Returns the object at an offset. @throws UnreadablePdfError when it is another one. */
  object(at: number, number: number): PdfValue {
    const found = this.parse(at, (parser) => parser.object());
    if (found.number !== number) throw new UnreadablePdfError(`Object ${number} is not where the file says.`);
    return found.value;
  }
}

/** Appends white space: a word at the end of the bytes ends there. */
export function ended(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(16, '\n')]);
}

/** Returns what was parsed; undefined where the bytes end too early. */
function attempt<T>(parse: () => T): { value: T } | undefined {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof CutShortError) return undefined;
    throw error;
  }
}
