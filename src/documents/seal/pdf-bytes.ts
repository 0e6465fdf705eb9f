import { closeSync, fstatSync, openSync, type PathLike, readSync } from 'node:fs';
import { blocksOf } from '../../kernel/files/regular-file.ts';
import { PdfParser, TruncatedError } from './pdf-parser.ts';
import { type PdfValue, UnreadablePdfError } from './pdf-values.ts';

/** The size up to which a file is read in one call, which is faster than reading parts. Most documents are smaller. */
const SMALL_FILE_BYTES = 512 * 1024;
/** Reusable buffers for small files, because allocating one takes longer than reading the file. */
const freeBuffers: Buffer[] = [];
const PAGE_BYTES = 64 * 1024;
const MAX_CACHED_PAGES = 64;
const FIRST_WINDOW_BYTES = 4 * 1024;
/** The maximum size of an object without its stream's data. Even a signature of a megabyte is far larger than real ones. */
const MAX_WINDOW_BYTES = 4 * 1024 * 1024;
/**
 * The maximum work for one file, at about one unit per byte parsed or unpacked, because a malicious file could keep the reader busy
 * forever. Work is counted instead of time, so that a file gets the same result on any machine under any load.
 */
const MAX_WORK = 256 * 1024 * 1024;
/** The work of a read or a lookup, regardless of its size. */
const CALL_WORK = 64;
/** The maximum number of bytes of a file that are kept in memory. The cross-references of a million objects take 7 MB. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** An open file, its cached pages, and the work spent on it. */
class OpenFile {
  readonly size: number;
  readonly descriptor: number;
  /** The bytes of a small file. */
  readonly whole: Buffer | undefined;
  readonly #isOwn: boolean;
  readonly #buffer: Buffer | undefined;
  readonly #pages = new Map<number, Buffer>();
  #work = 0;
  #kept = 0;

  constructor(source: PathLike | number) {
    this.#isOwn = typeof source !== 'number';
    this.descriptor = typeof source === 'number' ? source : openSync(source, 'r');
    this.size = fstatSync(this.descriptor).size;
    if (this.size > SMALL_FILE_BYTES) return;
    this.#buffer = freeBuffers.pop() ?? Buffer.allocUnsafeSlow(SMALL_FILE_BYTES);
    this.whole = this.#fill(this.#buffer.subarray(0, this.size), 0);
  }

  close(): void {
    if (this.#buffer !== undefined) freeBuffers.push(this.#buffer);
    if (this.#isOwn) closeSync(this.descriptor);
  }

  work(units: number): void {
    this.#work += units;
    if (this.#work > MAX_WORK) throw new UnreadablePdfError('The file is too complex to read.');
  }

  keep(bytes: number): void {
    this.#kept += bytes;
    if (this.#kept > MAX_KEPT_BYTES)
      throw new UnreadablePdfError('Reading the file would take too much memory.');
  }

  page(number: number): Buffer {
    const known = this.#pages.get(number);
    if (known) return known;
    if (this.#pages.size >= MAX_CACHED_PAGES) this.#pages.clear();
    const at = number * PAGE_BYTES;
    const page = this.#fill(Buffer.allocUnsafe(Math.max(0, Math.min(PAGE_BYTES, this.size - at))), at);
    this.#pages.set(number, page);
    return page;
  }

  /** Reads as many bytes as fit, fewer at the end of the file. */
  #fill(buffer: Buffer, at: number): Buffer {
    return buffer.subarray(0, readSync(this.descriptor, buffer, 0, buffer.length, at));
  }
}

/** The bytes of a PDF file. Reads only what is needed, with bounded memory and work. */
export class PdfBytes {
  readonly size: number;
  readonly #file: OpenFile;

  private constructor(file: OpenFile, size: number) {
    this.#file = file;
    this.size = size;
  }

  /**
   * Opens a file by path, or uses a descriptor, which the caller must close.
   * @throws the system's error if the file can't be opened, UnreadablePdfError if it isn't a PDF.
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

  /** Releases the file, and closes it if it was opened by path. All bytes that were read become invalid. */
  close(): void {
    this.#file.close();
  }

  /** Counts work. @throws UnreadablePdfError if it exceeds the limit. */
  work(units: number): void {
    this.#file.work(units + CALL_WORK);
  }

  /** Counts bytes that are kept until the file is closed. @throws UnreadablePdfError if they exceed the limit. */
  keep(bytes: number): void {
    this.#file.keep(bytes);
  }

  /** Returns bytes from an offset, fewer at the end of the file. They are valid until the file is closed. @throws UnreadablePdfError. */
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

  /** Returns all bytes of a range in blocks. A block is valid only until the next one. */
  blocks(start: number, end: number): AsyncIterable<Buffer> | Iterable<Buffer> {
    const { whole, descriptor } = this.#file;
    const last = Math.min(this.size, end);
    return whole === undefined ? blocksOf(descriptor, last, start) : [whole.subarray(start, last)];
  }

  /** Parses a value at an offset, reading as much of the file as needed. @throws UnreadablePdfError. */
  parse<T>(at: number, parse: (parser: PdfParser) => T): T {
    if (at < 0 || at >= this.size)
      throw new UnreadablePdfError('The file refers to an offset beyond its end.');
    for (let window = FIRST_WINDOW_BYTES; window <= MAX_WINDOW_BYTES; window *= 4) {
      const bytes = this.read(at, window);
      const isWhole = at + bytes.length >= this.size;
      const parser = new PdfParser(isWhole ? ended(bytes) : bytes, { offset: at });
      try {
        return parse(parser);
      } catch (error) {
        if (!(error instanceof TruncatedError)) throw error;
        if (isWhole) throw new UnreadablePdfError('The file is incomplete.');
      } finally {
        this.work(parser.position - at);
      }
    }
    throw new UnreadablePdfError('An object is too large.');
  }

  /** Returns the object at an offset. @throws UnreadablePdfError if its number is different. */
  object(at: number, number: number): PdfValue {
    const found = this.parse(at, (parser) => parser.object());
    if (found.number !== number)
      throw new UnreadablePdfError(`The cross-reference for object ${number} is wrong.`);
    return found.value;
  }
}

/** Appends white space, so that a word at the end of the bytes is complete. */
export function ended(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(16, '\n')]);
}
