import { statSync } from 'node:fs';
import { type FileHandle, open, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Batches } from '../kernel/async/batches.ts';
import { codeOf, type JournalError, UsageError } from '../kernel/errors.ts';
import { makePrivateFolder, syncFolder } from '../kernel/files/files.ts';
import { writeLine } from './checksummed-line.ts';
import { closedError, notWritableError, writeFailedError } from './failures.ts';
import { type EntryPosition, headerOf, type JournalReading, scan } from './scan.ts';

/** An entry that is to be written. Its position is known when it is. */
interface Waiting extends EntryPosition {
  line: string;
}

/**
 * An append-only file of JSON lines, each with a checksum. An entry is on disk (fsync) when `append` resolves; entries that wait
 * at the same time share one fsync. If a crash left an incomplete line at the end, it is cut off when the file is opened.
 */
export class Journal<T> {
  readonly path: string;
  readonly #file: FileHandle;
  #size: number;
  readonly #writes = new Batches<Waiting, void>((batch) => this.#write(batch));
  #failure: JournalError | undefined;

  private constructor(path: string, file: FileHandle, size: number) {
    this.path = path;
    this.#file = file;
    this.#size = size;
  }

  /**
   * Opens the journal for appending. Creates it and its folder if missing. Only one process may have it open.
   * `replay` is called with each existing entry, then `check`, which throws to refuse the journal.
   * @throws UsageError if the file is of another kind or version, damaged, or not writable. It is not changed in that case.
   */
  static async open<T>(
    reading: JournalReading<T>,
    replay: (entry: T) => void = () => undefined,
    check: () => void = () => undefined,
  ): Promise<Journal<T>> {
    const { path } = reading;
    let file: FileHandle | undefined;
    try {
      await makePrivateFolder(dirname(path));
      const { size } = await scan(reading, replay);
      check();
      file = await open(path, 'a', 0o600);
      const journal = new Journal<T>(path, file, size);
      // Cuts only what follows the last complete line, so that the next entry starts on a new line.
      await truncate(path, size);
      if (size === 0) {
        await journal.#put([writeLine(headerOf(reading.format))]);
        await syncFolder(dirname(path));
      }
      return journal;
    } catch (error) {
      await file?.close().catch(() => undefined);
      if (error instanceof UsageError) throw error;
      throw notWritableError(path, error);
    }
  }

  /** True after a failed write. No more entries are accepted. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves when the entry is on disk. @throws JournalError if it can't be written; all later calls then fail, too. */
  async append(entry: T): Promise<EntryPosition> {
    if (this.#failure) throw this.#failure;
    const waiting = { line: writeLine(entry), start: 0, end: 0 };
    await this.#writes.add([waiting]);
    return { start: waiting.start, end: waiting.end };
  }

  /** Writes pending entries and closes the file permanently. */
  async close(): Promise<void> {
    await this.#writes.end();
    this.#failure = closedError(this.path);
    await this.#file.close();
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    if (this.#failure) throw this.#failure;
    let end = this.#size;
    for (const one of batch) {
      one.start = end;
      end += Buffer.byteLength(one.line);
      one.end = end;
    }
    try {
      await this.#put(batch.map(({ line }) => line));
    } catch (error) {
      this.#failure = writeFailedError(this.path, error);
      // Entries that were reported as failed must not reappear after a restart.
      await truncate(this.path, this.#size).catch(() => undefined);
      throw this.#failure;
    }
  }

  async #put(lines: string[]): Promise<void> {
    const bytes = Buffer.from(lines.join(''));
    await this.#file.appendFile(bytes);
    await this.#file.datasync();
    // Without this, writes to a file that was deleted succeed. Waiting for a thread would take longer than this call.
    try {
      statSync(this.path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') throw error;
    }
    this.#size += bytes.length;
  }
}
