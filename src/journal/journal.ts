import { statSync } from 'node:fs';
import { copyFile, type FileHandle, open, rename, rm, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, type JournalError, UsageError } from '../kernel/errors.ts';
import { privateFolder, retryWhileInUse, syncFile, syncFolder } from '../kernel/files/files.ts';
import { type Compaction, snapshotLines, writeInSlices } from './compaction.ts';
import { closed, notWritable, writeFailed } from './failures.ts';
import { writeLine } from './line.ts';
import { headerOf, type JournalReading, type JournalState, type Span, scan } from './scan.ts';

export interface JournalOptions<T> extends JournalReading<T> {
  /** How to compact the file. Without it, the file only grows. */
  compaction?: Compaction<T>;
}

interface Waiting {
  line: string;
  written?: (span: Span) => void;
  failed?: (failure: Error) => void;
}

/** How long an entry written by `note` may stay in memory. */
const FLUSH_DELAY_MS = 500;
const MIN_COMPACTION_BYTES = 64 * 1024 * 1024;

/**
 * An append-only file of JSON lines, each with a checksum. An entry is on disk (fsync) when `append` resolves; entries that wait
 * at the same time share one fsync. If a crash left an incomplete line at the end, it is cut off when the file is opened.
 */
export class Journal<T> {
  readonly path: string;
  readonly #draftPath: string;
  readonly #options: JournalOptions<T>;
  #file: FileHandle;
  #size: number;
  #compactAt: number;
  #queue: Waiting[] = [];
  #lazy: NodeJS.Timeout | undefined;
  /** The current write. Never rejects; until it ends, nothing else may access the file. */
  #writing: Promise<void> | undefined;
  /** The number of operations that need the file exclusively. Nothing is written in the meantime. */
  #held = 0;
  #turn: Promise<void> = Promise.resolve();
  #isClosing = false;
  #failure: JournalError | undefined;
  #reopening: Promise<void> | undefined;

  private constructor(options: JournalOptions<T>, file: FileHandle, { size, compacted }: JournalState) {
    this.path = options.path;
    this.#draftPath = `${options.path}.new`;
    this.#options = options;
    this.#file = file;
    this.#size = size;
    this.#compactAt = this.#nextCompaction(compacted);
  }

  /**
   * Opens the journal for appending. Creates it and its folder if missing. Only one process may have it open.
   * `replay` is called with each existing entry.
   * @throws UsageError if the file is of another kind or version, damaged, or not writable. It is not changed in that case.
   */
  static async open<T>(
    options: JournalOptions<T>,
    replay: (entry: T) => void = () => undefined,
  ): Promise<Journal<T>> {
    const { path, compaction } = options;
    let file: FileHandle | undefined;
    try {
      await privateFolder(dirname(path));
      const state = await scan(options, replay);
      file = await open(path, 'a', 0o600);
      const journal = new Journal<T>(options, file, state);
      // Cuts only what follows the last complete line, so that the next entry starts on a new line.
      await journal.#cut();
      if (compaction) await rm(journal.#draftPath, { force: true });
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

  /** Writes an entry within half a second or with the next append. Can't be awaited. */
  note(entry: T): void {
    if (this.#failure) return;
    this.#queue.push({ line: writeLine(entry) });
    this.#lazy ??= setTimeout(() => this.#write(), FLUSH_DELAY_MS).unref();
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

  /**
   * Replaces this journal with a copy of another one of the same format, either completely or not at all. Entries appended before
   * it resolves are either lost or follow the copy.
   */
  async replace(by: string): Promise<void> {
    await this.#alone(async () => {
      if (this.#failure) throw this.#failure;
      await this.#replaceFile((draft) => copyFile(by, draft)).catch((error: unknown) => {
        throw notWritable(this.path, error);
      });
    });
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
    clearTimeout(this.#lazy);
    this.#lazy = undefined;
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
        if (this.#failure === undefined) written?.({ start, end });
        else failed?.(this.#failure);
        start = end;
      }
      this.#compactIfGrown();
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
      await privateFolder(dirname(this.path));
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
    await this.#put([writeLine(headerOf(this.#options.format))]);
    await syncFolder(dirname(this.path));
  }

  /** Returns the size at which compacting is worthwhile: less than half of the file is then still needed. */
  #nextCompaction(live: number): number {
    return Math.max(this.#options.compaction?.least ?? MIN_COMPACTION_BYTES, 2 * live);
  }

  /** Replaces a file that has grown with the current state. Entries appended in the meantime wait. */
  #compactIfGrown(): void {
    const { compaction, format } = this.#options;
    if (compaction === undefined || this.#size <= this.#compactAt) return;
    if (this.#failure || this.#isClosing || this.#held > 0) return;
    const write = (draft: string) => writeInSlices(draft, snapshotLines(format, compaction.snapshot()));
    this.#alone(() => this.#replaceFile(write)).catch(() => {
      // Nothing is lost. The file is unchanged, and a later attempt may succeed.
      this.#compactAt = this.#size + this.#size / 4;
    });
  }

  /** Replaces the file with a draft. It is closed in the meantime, because Windows can't replace an open file. */
  async #replaceFile(write: (draft: string) => Promise<void>): Promise<void> {
    try {
      await write(this.#draftPath);
      await syncFile(this.#draftPath);
      const { size } = await stat(this.#draftPath);
      await this.#file.close();
      try {
        await retryWhileInUse(() => rename(this.#draftPath, this.path));
        this.#size = size;
        this.#compactAt = this.#nextCompaction(size);
        await syncFolder(dirname(this.path));
      } finally {
        this.#file = await open(this.path, 'a', 0o600);
      }
    } catch (error) {
      await rm(this.#draftPath, { force: true });
      throw error;
    }
  }
}
