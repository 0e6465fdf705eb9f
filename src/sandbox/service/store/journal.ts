import { type FileHandle, open, readFile, rename, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, messageOf, UsageError } from '../../../kernel/errors.ts';

export interface JournalOptions {
  path: string;
  /** Called with every value read back, in order. */
  replay: (value: unknown) => void;
  /** The whole state as lines, newline included: what a compacted journal holds. */
  snapshot: () => Iterable<string>;
  /** Size in bytes from which a running journal is compacted. */
  compactAt?: number;
}

interface Entry {
  line: string;
  settle: ((failure?: Error) => void) | undefined;
}

const COMPACT_AT = 64 * 2 ** 20;
/** How long a line that nobody waits for may stay in memory. */
const LAZY_MS = 500;

/**
 * An append-only file of JSON lines. A line is on disk (fsync) when `append` resolves; lines that wait together share
 * one fsync. A tail cut by a crash is dropped on opening. When the file has grown, it is replaced by a snapshot.
 */
export class Journal {
  readonly #options: JournalOptions;
  #file: FileHandle;
  #size: number;
  #compactAt: number;
  #queue: Entry[] = [];
  #writing: Promise<void> | undefined;
  #lazy: NodeJS.Timeout | undefined;
  #failure: Error | undefined;

  private constructor(options: JournalOptions, file: FileHandle, size: number) {
    this.#options = options;
    this.#file = file;
    this.#size = size;
    this.#compactAt = options.compactAt ?? COMPACT_AT;
  }

  /** Replays the file at `path`, made when missing. Throws UsageError when a line inside it is damaged. */
  static async open(options: JournalOptions): Promise<Journal> {
    const size = await replayFile(options.path, options.replay);
    const file = await open(options.path, 'a', 0o600);
    await syncFolder(dirname(options.path));
    return new Journal(options, file, size);
  }

  /** Resolves when the line is on disk; rejects when it can't be, as will every later one. */
  append(value: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#push(value, (failure) => (failure ? reject(failure) : resolve()));
      this.#write();
    });
  }

  /** Writes the line within half a second or with the next append, whichever comes first. */
  note(value: unknown): void {
    this.#push(value, undefined);
    this.#lazy ??= setTimeout(() => this.#write(), LAZY_MS).unref();
  }

  /** Writes what is queued and closes the file. */
  async close(): Promise<void> {
    this.#write();
    await this.#writing;
    await this.#file.close();
  }

  #push(value: unknown, settle: Entry['settle']): void {
    if (this.#failure) settle?.(this.#failure);
    else this.#queue.push({ line: `${JSON.stringify(value)}\n`, settle });
  }

  #write(): void {
    clearTimeout(this.#lazy);
    this.#lazy = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        if (this.#size > this.#compactAt) await this.#compact();
        else await this.#appendBatch(batch);
      } catch (error) {
        this.#failure = new Error(`The sandbox cannot write ${this.#options.path}: ${messageOf(error)}`);
      }
      for (const entry of [...batch, ...(this.#failure ? this.#queue.splice(0) : [])])
        entry.settle?.(this.#failure);
    }
  }

  async #appendBatch(batch: Entry[]): Promise<void> {
    const bytes = Buffer.from(batch.map((entry) => entry.line).join(''));
    await this.#file.appendFile(bytes);
    await this.#file.datasync();
    this.#size += bytes.length;
  }

  /** The snapshot is taken before the first await, so it holds everything queued so far, the batch in hand included. */
  async #compact(): Promise<void> {
    const { path, snapshot } = this.#options;
    const bytes = Buffer.from([...snapshot()].join(''));
    const next = await open(`${path}.new`, 'w', 0o600);
    await next.appendFile(bytes);
    await next.datasync();
    await next.close();
    await rename(`${path}.new`, path);
    await syncFolder(dirname(path));
    await this.#file.close();
    this.#file = await open(path, 'a', 0o600);
    this.#size = bytes.length;
    this.#compactAt = Math.max(this.#options.compactAt ?? COMPACT_AT, 2 * this.#size);
  }
}

/** Hands every whole line to `replay` and cuts a torn tail off. Returns the size that remains. */
async function replayFile(path: string, replay: (value: unknown) => void): Promise<number> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
  let start = 0;
  for (let number = 1; ; number += 1) {
    const end = bytes.indexOf(10, start);
    if (end === -1) break;
    const value = parseLine(bytes.toString('utf8', start, end));
    if (value === undefined) {
      if (end + 1 < bytes.length)
        throw new UsageError(`Line ${number} of ${path} is damaged`, {
          hint: 'Move the file away to start with an empty sandbox; nothing was changed.',
        });
      break;
    }
    replay(value.line);
    start = end + 1;
  }
  if (start < bytes.length) await truncate(path, start);
  return start;
}

function parseLine(text: string): { line: unknown } | undefined {
  try {
    return { line: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Makes a new or renamed file's name durable. Windows has no such call and needs none. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
