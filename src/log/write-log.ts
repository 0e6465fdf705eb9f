import { hash } from 'node:crypto';
import { type FileHandle, open, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { writeLine } from '../journal/line.ts';
import { linesOf } from '../journal/lines.ts';
import type { Clock } from '../kernel/clock.ts';
import { EsignError, JournalError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { privateFolder, syncFolder } from '../kernel/files/files.ts';
import { lockFile } from '../kernel/files/lock.ts';
import { replaceFile } from '../kernel/files/replace-file.ts';
import type { LogRecord } from './entry.ts';
import {
  fileName,
  fileNumber,
  GENESIS,
  type Head,
  headFile,
  LOG_KIND,
  LOG_VERSION,
  logFiles,
  readHead,
} from './files.ts';

/** Size after which a new file is started, in bytes. */
const ROTATE_BYTES = 4 * 1024 * 1024;
/** How long other processes may hold the lock, in ms. */
const LOCK_TIMEOUT_MS = 30_000;

/** The end of the log: the position of the next line, and the hash that it is chained to. */
interface Tail {
  name: string;
  size: number;
  hash: string;
}

/**
 * Appends to the log of writes. Each line contains the hash of the previous line, even across files, and the last hash is stored
 * next to the log. Several processes take turns. A record is on disk (fsync) when `append` resolves.
 */
export class WriteLog {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #rotateBytes: number;
  #waiting: LogRecord[] = [];
  /** The write of the waiting records. It begins after the previous write. */
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(folder: string, clock: Clock, { rotateBytes = ROTATE_BYTES }: { rotateBytes?: number } = {}) {
    this.#folder = folder;
    this.#clock = clock;
    this.#rotateBytes = rotateBytes;
  }

  /** Appends a record. Records that wait at the same time share one lock and one fsync. @throws JournalError if it is not on disk. */
  append(record: LogRecord): Promise<void> {
    this.#waiting.push(record);
    this.#next ??= this.#last.then(() => {
      const records = this.#waiting;
      this.#waiting = [];
      this.#next = undefined;
      return this.#write(records).catch((error: unknown) => {
        throw this.#failure(error);
      });
    });
    this.#last = this.#next.catch(() => undefined);
    return this.#next;
  }

  async #write(records: readonly LogRecord[]): Promise<void> {
    await privateFolder(this.#folder);
    const taken = (pid: string) =>
      new JournalError(`Another esign process (${pid}) is using the log in ${this.#folder}.`, {
        hint: 'Nothing was sent. Run the command again.',
      });
    const release = await lockFile(join(this.#folder, 'lock'), taken, {
      waitMs: LOCK_TIMEOUT_MS,
      clock: this.#clock,
    });
    try {
      const tail = await this.#rotated(await findTail(this.#folder));
      await this.#put(tail, records);
    } finally {
      await release();
    }
  }

  /** Starts the first file, or the next one when the last one is large enough. */
  async #rotated(tail: Tail | undefined): Promise<Tail> {
    if (tail !== undefined && tail.size > 0 && tail.size < this.#rotateBytes) return tail;
    const number = tail === undefined ? 1 : fileNumber(tail.name) + (tail.size > 0 ? 1 : 0);
    const first = { name: fileName(number), size: 0, hash: tail?.hash ?? GENESIS };
    const begun = await this.#put(first, [{ journal: LOG_KIND, version: LOG_VERSION }]);
    await syncFolder(this.#folder);
    return begun;
  }

  /** Appends lines and stores the new head. If they can't be written completely, they are removed again. */
  async #put(tail: Tail, values: readonly object[]): Promise<Tail> {
    const path = join(this.#folder, tail.name);
    let { hash: previous, size: start, size: end } = tail;
    const lines = values.map((value) => {
      const line = writeLine({ ...value, prev: previous });
      start = end;
      end += Buffer.byteLength(line);
      previous = hashOf(line.slice(0, -1));
      return line;
    });
    const head: Head = { file: tail.name, start, end, hash: previous };
    let file: FileHandle | undefined;
    try {
      file = await open(path, 'a', 0o600);
      await file.appendFile(lines.join(''));
      await file.datasync();
      replaceFile(headFile(this.#folder), `${JSON.stringify(head)}\n`);
    } catch (error) {
      // A new file whose first line can't be written is removed.
      await (tail.size === 0 ? rm(path, { force: true }) : truncate(path, tail.size)).catch(() => undefined);
      throw error;
    } finally {
      await file?.close();
    }
    return { name: tail.name, size: end, hash: previous };
  }

  #failure(error: unknown): Error {
    if (error instanceof EsignError) return error;
    return new JournalError(`Can't write the log in ${this.#folder}: ${diskReason(error)}.`, {
      cause: error,
      hint: 'Nothing is sent unless it can be logged. Free up disk space, or set ESIGN_STATE_DIR to a writable folder.',
    });
  }
}

/** Returns the hash of a line (without its line break), which the next line contains. */
export function hashOf(line: string | Uint8Array): string {
  return hash('sha256', line);
}

/**
 * Finds the end of the log from the stored head, and removes an incomplete line that a crash has left. If the log no longer
 * contains the line of the head, the next line is chained to the head, so that `log verify` finds the break.
 */
async function findTail(folder: string): Promise<Tail | undefined> {
  const files = await logFiles(folder);
  const head = await readHead(folder);
  const last = files.at(-1);
  if (head === undefined || head === 'damaged')
    return last === undefined ? undefined : readEnd(folder, files);
  if (last === undefined) return { name: fileName(1), size: 0, hash: head.hash };
  const hasHead = files.includes(head.file) && (await hasLine(folder, head));
  const tail = await readEnd(folder, files, hasHead ? head : undefined);
  // A process may have been killed after it started a file and before it stored the head.
  return hasHead ? tail : { ...tail, hash: head.hash };
}

async function hasLine(folder: string, { file, start, end, hash: expected }: Head): Promise<boolean> {
  for await (const line of linesOf(join(folder, file), start))
    return line.end === end && hashOf(line.bytes) === expected;
  return false;
}

/** Returns the end of the last file. If a crash or a full disk left it without a line, it is chained to the file before it. */
async function readEnd(folder: string, files: readonly string[], known?: Head): Promise<Tail> {
  const name = files.at(-1) ?? fileName(1);
  const tail = await readTail(folder, name, known?.file === name ? known : undefined);
  if (tail.size > 0 || files.length < 2) return tail;
  const { hash: previous } = await readEnd(folder, files.slice(0, -1), known);
  return { ...tail, hash: previous };
}

/** Returns the end of the last complete line of a file, starting from a known line. Removes an incomplete line after it. */
async function readTail(folder: string, name: string, known?: Head): Promise<Tail> {
  const path = join(folder, name);
  const tail = { name, size: known?.end ?? 0, hash: known?.hash ?? GENESIS };
  for await (const { bytes, end } of linesOf(path, tail.size)) {
    tail.size = end;
    tail.hash = hashOf(bytes);
  }
  await truncate(path, tail.size);
  return tail;
}
