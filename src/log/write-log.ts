import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { writeLine } from '../journal/line.ts';
import type { Clock } from '../kernel/clock.ts';
import { JournalError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { privateFolder, syncFolder } from '../kernel/files/files.ts';
import type { LogRecord } from './entry.ts';
import { fileNameAt } from './files.ts';

/**
 * Appends to the log of writes. A record is on disk (fsync) when `append` resolves. Processes need no lock: each write is a single append
 * of whole lines.
 */
export class WriteLog {
  readonly #folder: string;
  readonly #clock: Pick<Clock, 'now'>;
  #waiting: LogRecord[] = [];
  /** The write of the waiting records. It begins after the previous write. */
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(folder: string, clock: Pick<Clock, 'now'>) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** Appends a record. Records that wait at the same time share one fsync. @throws JournalError if it is not on disk. */
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
    const file = await open(join(this.#folder, fileNameAt(this.#clock.now())), 'a+', 0o600);
    try {
      const { size } = await file.stat();
      const lines = records.map((record) => writeLine(record)).join('');
      // A crash or a full disk may have left half a line, which must not swallow the next one.
      await file.appendFile((await endsMidLine(file, size)) ? `\n${lines}` : lines);
      await file.datasync();
      if (size === 0) await syncFolder(this.#folder);
    } finally {
      await file.close();
    }
  }

  #failure(error: unknown): Error {
    return new JournalError(`Can't write the log in ${this.#folder}: ${diskReason(error)}.`, {
      cause: error,
      hint: 'Nothing is sent unless it can be logged. Free up disk space, or set ESIGN_STATE_DIR to a writable folder.',
    });
  }
}

async function endsMidLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() !== '\n';
}
