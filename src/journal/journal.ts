import { type FileHandle, open, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskReason } from '../kernel/disk-reason.ts';
import { codeOf, JournalError, UsageError } from '../kernel/errors.ts';
import { privateFolder, syncFolder } from '../kernel/files.ts';
import { readLine, writeLine } from './line.ts';
import { linesOf } from './lines.ts';

export interface JournalFormat<T> {
  /** What it is a journal of; a file of another kind or a newer version is refused. */
  kind: string;
  version: number;
  /** Checks an entry read back (undefined: a line that is damaged); undefined when it is none. */
  read: (value: unknown) => T | undefined;
}

export interface JournalReading<T> {
  path: string;
  format: JournalFormat<T>;
  /** Whether a damaged line inside the file is an error or is left out and counted. Default: refuse. */
  damaged?: 'refuse' | 'skip';
}

/** What reading a journal found besides its entries. */
export interface JournalState {
  /** Bytes up to the end of the last whole line. */
  size: number;
  /** Lines left out because they were damaged. */
  skipped: number;
}

/** Where an entry stands in its file, in bytes: from the start of its line to behind its line break. */
export interface Span {
  start: number;
  end: number;
}

interface Waiting {
  line: string;
  written: (span: Span) => void;
  failed: (failure: Error) => void;
}

/**
 * An append-only file of JSON lines, each with a checksum. An entry is on disk (fsync) when `append` resolves;
 * entries that wait together share one fsync. A tail torn by a crash is cut off on opening.
 */
export class Journal<T> {
  readonly path: string;
  readonly #header: string;
  #file: FileHandle;
  #size: number;
  #queue: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #failure: JournalError | undefined;
  #reopening: Promise<void> | undefined;

  private constructor(path: string, file: FileHandle, size: number, header: string) {
    this.path = path;
    this.#file = file;
    this.#size = size;
    this.#header = header;
  }

  /**
   * Opens the journal for appending, made with its folder when missing. Only one process may have it open.
   * `replay` is handed each entry that is there already.
   * @throws UsageError when the file is of another kind or version, damaged, or not writable; it is left as it is.
   */
  static async open<T>(
    reading: JournalReading<T>,
    replay: (entry: T) => void = () => undefined,
  ): Promise<Journal<T>> {
    const { path, format } = reading;
    let file: FileHandle | undefined;
    try {
      await privateFolder(dirname(path));
      const state = await scan(reading, replay);
      file = await open(path, 'a', 0o600);
      const header = writeLine({ journal: format.kind, version: format.version });
      const journal = new Journal<T>(path, file, state.size, header);
      // Cut only what follows the last whole line, so that the next entry starts on a line of its own.
      await journal.#cut();
      return journal;
    } catch (error) {
      await file?.close().catch(() => undefined);
      if (error instanceof UsageError) throw error;
      throw notWritable(path, error);
    }
  }

  /** True after a write has failed: nothing more is taken until it is reopened. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /**
   * Goes on after a failure: opens the file anew and cuts off what is not surely on disk.
   * @throws UsageError while it can't be written.
   */
  reopen(): Promise<void> {
    this.#reopening ??= this.#openAgain().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #openAgain(): Promise<void> {
    await this.#writing;
    await this.#file.close().catch(() => undefined);
    try {
      await privateFolder(dirname(this.path));
      this.#file = await open(this.path, 'a', 0o600);
      // A file that is shorter than what was written is another one.
      if ((await stat(this.path)).size < this.#size) this.#size = 0;
      await this.#cut();
    } catch (error) {
      throw notWritable(this.path, error);
    }
    this.#failure = undefined;
  }

  /** Leaves what is known to be whole; an empty file gets its first line. */
  async #cut(): Promise<void> {
    await truncate(this.path, this.#size);
    if (this.#size > 0) return;
    await this.#write([this.#header]);
    await syncFolder(dirname(this.path));
  }

  /** Bytes on disk. */
  get size(): number {
    return this.#size;
  }

  /** Resolves when the entry is on disk. @throws JournalError when it can't be; so will every later one until `reopen`. */
  append(entry: T): Promise<Span> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#queue.push({ line: writeLine(entry), written: resolve, failed: reject });
      this.#writing ??= this.#writeAll().finally(() => {
        this.#writing = undefined;
      });
    });
  }

  /** Writes what waits and closes the file. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      let start = this.#size;
      try {
        if (this.#failure === undefined) await this.#write(batch.map(({ line }) => line));
      } catch (error) {
        this.#failure = new JournalError(`Can't write the journal ${this.path}: ${diskReason(error)}.`, {
          cause: error,
          hint: 'Mend that and go on: what was written before is safe.',
        });
      }
      for (const { line, written, failed } of batch) {
        const end = start + Buffer.byteLength(line);
        if (this.#failure === undefined) written({ start, end });
        else failed(this.#failure);
        start = end;
      }
    }
  }

  async #write(lines: string[]): Promise<void> {
    const bytes = Buffer.from(lines.join(''));
    await this.#file.appendFile(bytes);
    await this.#file.datasync();
    this.#size += bytes.length;
  }
}

/**
 * Hands over each entry of a journal that another process may be writing at this moment; changes nothing.
 * A missing file has no entries.
 */
export async function scan<T>(
  reading: JournalReading<T>,
  take: (entry: T, span: Span) => void,
  from = 0,
): Promise<JournalState> {
  const state = { size: from, skipped: 0 };
  let bad: number | undefined;
  let number = 0;
  let start = from;
  for await (const { text, end } of linesOf(reading.path, from)) {
    number++;
    // The last line may be torn; only a bad line that others follow is damage.
    if (bad !== undefined) state.skipped += passOver(bad, reading);
    bad = undefined;
    const value = readLine(text);
    if (number === 1 && from === 0) checkHeader(value, reading.format, reading.path);
    else {
      const entry = reading.format.read(value);
      if (entry === undefined) bad = number;
      else take(entry, { start, end });
    }
    start = end;
    if (bad === undefined) state.size = end;
  }
  return state;
}

/** The entry that stands there, or undefined when it does not any more. */
export async function readAt<T>(
  path: string,
  { start, end }: Span,
  format: JournalFormat<T>,
): Promise<T | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
      return format.read(readLine(buffer.toString('utf8', 0, bytesRead - 1)));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function notWritable(path: string, error: unknown): UsageError {
  return new UsageError(`Can't write the journal ${path}: ${diskReason(error)}.`, {
    cause: error,
    hint: 'Without a journal nothing is sent. Make room or set ESIGN_STATE_DIR to a folder that can be written.',
  });
}

function passOver(line: number, reading: JournalReading<unknown>): number {
  if (reading.damaged === 'skip') return 1;
  throw new UsageError(`Line ${line} of the journal ${reading.path} is damaged. It was left as it is.`, {
    hint: 'A disk fault or an editor does this. Bring the file back from a copy, or move it away.',
  });
}

function checkHeader(value: unknown, format: JournalFormat<unknown>, path: string): void {
  const header =
    typeof value === 'object' && value !== null ? { journal: '', version: 0, ...value } : undefined;
  if (header?.journal === format.kind && header.version === format.version) return;
  const why =
    header?.journal === format.kind
      ? `it was written by another version of esign (format ${String(header.version)}, this one reads ${format.version})`
      : 'its first line is damaged or it is another file';
  throw new UsageError(`The journal ${path} can't be used: ${why}. It was left as it is.`, {
    hint: 'Use the version of esign that wrote it, or move the file away.',
  });
}
