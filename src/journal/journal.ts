import { statSync } from 'node:fs';
import { type FileHandle, open, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, type JournalError, UsageError } from '../kernel/errors.ts';
import { makePrivateFolder, syncFolder } from '../kernel/files/files.ts';
import { closed, notWritable, writeFailed } from './failures.ts';
import { writeLine } from './line.ts';
import { headerOf, type JournalReading, type JournalState, type Span, scan } from './scan.ts';

interface Waiting {
  line: string;
  written: (span: Span) => void;
  failed: (failure: Error) => void;
}

/**
 * An append-only file of JSON lines, each with a checksum. An entry is on disk (fsync) when `append` resolves; entries that wait
 * at the same time share one fsync. If a crash left an incomplete line at the end, it is cut off when the file is opened.
 */
export class Journal<T> {
  readonly path: string;
  readonly #reading: JournalReading<T>;
  #file: FileHandle;
  #size: number;
  #queue: Waiting[] = [];
  /** The current write. Never rejects; until it ends, nothing else may access the file. */
  #writing: Promise<void> | undefined;
  /** The number of operations that need the file exclusively. Nothing is written in the meantime. */
  #held = 0;
  #turn: Promise<void> = Promise.resolve();
  #isClosing = false;
  #failure: JournalError | undefined;
  #reopening: Promise<void> | undefined;

  private constructor(reading: JournalReading<T>, file: FileHandle, { size }: JournalState) {
    this.path = reading.path;
    this.#reading = reading;
    this.#file = file;
    this.#size = size;
  }

  /**
   * Opens the journal for appending. Creates it and its folder if missing. Only one process may have it open.
   * `replay` is called with each existing entry.
   * @throws UsageError if the file is of another kind or version, damaged, or not writable. It is not changed in that case.
   */
  static async open<T>(
    reading: JournalReading<T>,
    replay: (entry: T) => void = () => undefined,
  ): Promise<Journal<T>> {
    const { path } = reading;
    let file: FileHandle | undefined;
    try {
      await makePrivateFolder(dirname(path));
      const state = await scan(reading, replay);
      file = await open(path, 'a', 0o600);
      const journal = new Journal<T>(reading, file, state);
      // Cuts only what follows the last complete line, so that the next entry starts on a new line.
      await journal.#cut();
      return journal;
    } catch (error) {
      await file?.close().catch(() => undefined);
      if (error instanceof UsageError) throw error;
      throw notWritable(path, error);
    }
  }

  /** True after a failed write. No entries are accepted until the journal is reopened. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves when the entry is on disk. @throws JournalError if it can't be written; later calls then also fail until `reopen`. */
  append(entry: T): Promise<Span> {
    return new Promise((written, failed) => {
      if (this.#failure) return failed(this.#failure);
      this.#queue.push({ line: writeLine(entry), written, failed });
      this.#write();
    });
  }

  /**
   * Recovers from a failure: reopens the file and cuts off everything that may not be on disk.
   * @throws UsageError while it can't be written.
   */
  reopen(): Promise<void> {
    this.#reopening ??= this.#alone(() => this.#openAgain()).finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  /** Writes pending entries and closes the file permanently. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#turn;
    this.#write();
    while (this.#writing) await this.#writing;
    this.#failure = closed(this.path);
    await this.#file.close();
  }

  #write(): void {
    if (this.#held > 0 || this.#writing !== undefined || this.#queue.length === 0) return;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined;
      // Writes entries that were appended after the queue was last checked.
      this.#write();
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0 && this.#held === 0) {
      const batch = this.#queue;
      this.#queue = [];
      let start = this.#size;
      try {
        if (this.#failure === undefined) await this.#put(batch.map(({ line }) => line));
      } catch (error) {
        this.#failure = writeFailed(this.path, error);
        // Entries that were reported as failed must not reappear after a restart.
        await truncate(this.path, this.#size).catch(() => undefined);
      }
      for (const { line, written, failed } of batch) {
        const end = start + Buffer.byteLength(line);
        if (this.#failure === undefined) written({ start, end });
        else failed(this.#failure);
        start = end;
      }
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

  /** Runs work that needs the file exclusively. Entries appended in the meantime wait. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#held += 1;
    const done = this.#turn
      .then(async () => {
        await this.#writing;
        await work();
      })
      .finally(() => {
        this.#held -= 1;
        this.#write();
      });
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #openAgain(): Promise<void> {
    if (this.#isClosing) throw closed(this.path);
    await this.#file.close().catch(() => undefined);
    try {
      await makePrivateFolder(dirname(this.path));
      this.#file = await open(this.path, 'a', 0o600);
      // If the file is shorter than what was written, it is a different file.
      if ((await stat(this.path)).size < this.#size) this.#size = 0;
      await this.#cut();
    } catch (error) {
      throw notWritable(this.path, error);
    }
    this.#failure = undefined;
  }

  /** Cuts the file to the size that is known to be intact. An empty file gets its header. */
  async #cut(): Promise<void> {
    await truncate(this.path, this.#size);
    if (this.#size > 0) return;
    await this.#put([writeLine(headerOf(this.#reading.format))]);
    await syncFolder(dirname(this.path));
  }
}
