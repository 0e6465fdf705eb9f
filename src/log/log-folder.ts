import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Batches } from '../kernel/async/batches.ts';
import type { Clock } from '../kernel/clock.ts';
import { DIGEST_DIGITS } from '../kernel/digest.ts';
import { codeOf, EsignError, JournalError, UsageError } from '../kernel/errors.ts';
import { diskReason, isFullDisk } from '../kernel/files/disk-reason.ts';
import { makePrivateFolder, syncFolder } from '../kernel/files/files.ts';
import { ifExists } from '../kernel/files/regular-file.ts';
import { blocksOf } from '../lines/read-lines.ts';
import { type LoggedWrite, WriteList } from './logged-write.ts';
import { hashesOf, type LogRecord, readRecord } from './stored-records.ts';
import type { WriteMemory } from './write-memory.ts';

/** One file per month. Files are never rewritten or deleted. */
const NAME = /^\d{4}-\d{2}\.jsonl$/;
const BREAK = 10;
/** The number of bytes per read. */
const BLOCK = 4 * 1024 * 1024;
/** Above this number of keys, each is looked up in a set, instead of each being searched for. */
const MANY = 16;
const KEY = Buffer.from('"key":"');

/** Returns the folder of the log. */
export function logFolder(stateDir: string): string {
  return join(stateDir, 'log');
}

/** Returns the names of the log's files, oldest first. */
async function logFiles(folder: string): Promise<string[]> {
  const names = await ifExists(readdir(folder));
  return (names ?? []).filter((name) => NAME.test(name)).sort();
}

/**
 * The log of writes in a folder that all processes on this machine share. Nothing is locked: a record is appended with one system
 * call, and a process that appended an intent reads again before it sends (`claim`). docs/contributing/reliability.md has the argument.
 */
export class LogFolder implements WriteMemory {
  readonly #folder: string;
  readonly #clock: Pick<Clock, 'now'>;
  /** Records that wait at the same time share one fsync. */
  readonly #writes = new Batches((records: readonly LogRecord[]) => this.#write(records));
  /** Calls that wait at the same time share one reading. */
  readonly #readings = new Batches((hashes: readonly string[]) => recordsWith(this.#folder, hashes));

  constructor(folder: string, clock: Pick<Clock, 'now'>) {
    this.#folder = folder;
    this.#clock = clock;
  }

  append(records: readonly LogRecord[]): Promise<void> {
    return this.#writes.add(records).catch((error: unknown) => {
      throw this.#failure(error);
    });
  }

  async find(hashes: readonly string[]): Promise<LoggedWrite[]> {
    const found = await this.#readings.add(hashes);
    const own = new Set(hashes);
    const list = new WriteList();
    for (const { record, file } of found)
      if (hashesOf(record).some((hash) => own.has(hash))) list.take(record, file);
    return list.writes;
  }

  async #write(records: readonly LogRecord[]): Promise<void> {
    await makePrivateFolder(this.#folder);
    const month = `${new Date(this.#clock.now()).toISOString().slice(0, 7)}.jsonl`;
    const newest = (await logFiles(this.#folder)).at(-1) ?? '';
    // A clock that was set back must not write behind the others.
    const name = newest > month ? newest : month;
    const file = await open(join(this.#folder, name), 'a', 0o600);
    try {
      // A record begins with a line break, because the one before it may be incomplete, and ends with one, because after a power
      // failure, zeros may follow it.
      const bytes = Buffer.from(records.map((record) => `\n${JSON.stringify(record)}\n`).join(''));
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten < bytes.length)
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      await file.datasync();
    } finally {
      await file.close();
    }
    if (name !== newest) await syncFolder(this.#folder);
  }

  #failure(error: unknown): Error {
    if (error instanceof EsignError) return error;
    const Kind = isFullDisk(error) ? JournalError : UsageError;
    return new Kind(`Can't write the log in ${this.#folder}: ${diskReason(error)}.`, {
      cause: error,
      hint: 'Nothing is sent unless it can be logged. Free up disk space, or set ESIGN_STATE_DIR to a writable folder.',
    });
  }
}

/** A record with the name of its file. */
interface FoundRecord {
  record: LogRecord;
  file: string;
}

/** Reads the records whose lines `linesOf` yields, in the order of the log. Other processes may be writing to it. */
export async function readRecords(
  folder: string,
  linesOf: (block: Buffer) => Iterable<Buffer>,
): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  try {
    // A kill or a full disk may have cut off the last record, and another process begins with a line break.
    for (const file of await logFiles(folder))
      for await (const block of blocksOf(join(folder, file), { roomBytes: BLOCK, withRest: true }))
        for (const line of linesOf(block)) {
          const record = readRecord(line.toString('utf8'));
          if (record !== undefined) found.push({ record, file });
        }
  } catch (error) {
    throw unreadableLogError(folder, error);
  }
  return found;
}

function recordsWith(folder: string, hashes: readonly string[]): Promise<FoundRecord[]> {
  return readRecords(
    folder,
    hashes.length > MANY ? linesWithKeys(new Set(hashes)) : linesWithParts(hashes.map((hash) => `"${hash}"`)),
  );
}

/** Returns a function that yields the lines of a block that contain one of the parts, in their order. */
export function linesWithParts(
  parts: readonly string[],
): (block: Buffer) => Generator<Buffer, void, undefined> {
  const needles = parts.map((part) => Buffer.from(part));
  return function* (block) {
    const starts = new Set<number>();
    for (const needle of needles)
      for (let at = block.indexOf(needle); at !== -1; at = block.indexOf(needle, at + needle.length))
        starts.add(block.lastIndexOf(BREAK, at) + 1);
    for (const start of [...starts].sort((one, other) => one - other)) yield lineFrom(block, start);
  };
}

/** Like `linesWithParts`, for many keys: one pass, however many there are. */
function linesWithKeys(keys: ReadonlySet<string>): (block: Buffer) => Generator<Buffer, void, undefined> {
  return function* (block) {
    for (let at = block.indexOf(KEY); at !== -1; at = block.indexOf(KEY, at + KEY.length)) {
      const start = at + KEY.length;
      if (keys.has(block.toString('latin1', start, start + DIGEST_DIGITS)))
        yield lineFrom(block, block.lastIndexOf(BREAK, at) + 1);
    }
  };
}

function lineFrom(block: Buffer, start: number): Buffer {
  const end = block.indexOf(BREAK, start);
  return block.subarray(start, end === -1 ? block.length : end);
}

/** Returns the error for a log that can't be read, such as another user's. */
function unreadableLogError(folder: string, error: unknown): unknown {
  if (codeOf(error) === undefined) return error;
  return new UsageError(`Can't read the log in ${folder} (${diskReason(error)}).`, {
    cause: error,
    hint: 'Check its permissions, or use a different folder with ESIGN_STATE_DIR.',
  });
}
