import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { codeOf, JournalError, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { makePrivateFolder, writeFileAtomic } from '../kernel/files/files.ts';
import { Journal } from './journal.ts';
import { type EntryPosition, type JournalFormat, scan } from './scan.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The place of an entry, with which it can be read again. */
export interface JournalPosition extends EntryPosition {
  path: string;
}

/**
 * A journal with one folder per day. Each process writes its own files there, so several can write at the same time and old days
 * can be deleted. An entry is on disk when `append` resolves.
 */
export class DayJournal<T> {
  /** The name of this writer, with which its files begin. */
  readonly #name = `${process.pid}-${randomBytes(4).toString('hex')}`;
  readonly #folder: string;
  readonly #format: JournalFormat<T>;
  readonly #clock: Clock;
  /** The number of files that failed. */
  #failures = 0;
  #day: string | undefined;
  #journal: Promise<Journal<T>> | undefined;

  constructor(folder: string, format: JournalFormat<T>, clock: Clock) {
    this.#folder = folder;
    this.#format = format;
    this.#clock = clock;
  }

  /** Opens today's file, so that a folder that isn't writable is noticed immediately. @throws UsageError if it can't be opened */
  async open(): Promise<void> {
    await this.#usable();
  }

  /**
   * Appends an entry. After a failure, the next call starts a new file, because a full disk may have space by then.
   * @throws JournalError or UsageError if it can't be written.
   */
  async append(entry: T): Promise<JournalPosition> {
    const write = async () => {
      const journal = await this.#usable();
      return { path: journal.path, ...(await journal.append(entry)) };
    };
    return write().catch((error: unknown) => {
      // The file was deleted.
      if (error instanceof JournalError && codeOf(error.cause) === 'ENOENT') return write();
      throw error;
    });
  }

  /** Checks whether an entry could be written, without writing one. @throws JournalError or UsageError if it couldn't. */
  async check(): Promise<void> {
    const folder = dirname((await this.#usable()).path);
    const path = join(folder, `${this.#name}.check`);
    try {
      await makePrivateFolder(folder);
      await writeFileAtomic(path, Buffer.alloc(TEST_BYTES));
    } catch (error) {
      throw new JournalError(`Can't write the journal in ${folder}: ${diskReason(error)}.`, { cause: error });
    } finally {
      await rm(path, { force: true }).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await (await this.#journal)?.close();
  }

  async #usable(): Promise<Journal<T>> {
    const opening = this.#today();
    const journal = await opening;
    if (!journal.hasFailed) return journal;
    if (this.#journal === opening) {
      this.#failures++;
      this.#journal = undefined;
      void journal.close().catch(() => undefined);
    }
    return this.#today();
  }

  #today(): Promise<Journal<T>> {
    const day = dayOf(this.#clock.now());
    if (this.#journal !== undefined && this.#day === day) return this.#journal;
    const before = this.#journal;
    this.#day = day;
    const path = join(this.#folder, day, `${this.#name}-${this.#failures}.jsonl`);
    const opened = Journal.open<T>({ path, format: this.#format });
    this.#journal = opened;
    opened.catch(() => {
      if (this.#journal === opened) this.#journal = undefined;
    });
    void before?.then((journal) => journal.close()).catch(() => undefined);
    return opened;
  }
}

/** The size of the file with which `check` tests the disk. A small disk that is nearly full has no space for it. */
const TEST_BYTES = 4_096;

/** Returns the files of each day since a time (ms), in order of the days. */
export async function listDayFiles(folder: string, since: number): Promise<string[][]> {
  const from = dayOf(Math.max(since, 0));
  const days = (await namesIn(folder)).filter((name) => DAY.test(name) && name >= from);
  return Promise.all(
    days.map(async (day) =>
      (await namesIn(join(folder, day)))
        .filter((name) => name.endsWith('.jsonl'))
        .map((name) => join(folder, day, name)),
    ),
  );
}

/** Called for a file with damaged lines, which are skipped. */
export type OnDamage = (damage: { path: string; lines: number }) => void;

/**
 * Calls `visit` with each entry since the day of a time (ms) and the entry's place. The files of a day are read in no particular
 * order, the entries of a file in the order in which they were written. Damaged lines are skipped and reported.
 */
export async function scanDays<T>(
  folder: string,
  format: JournalFormat<T>,
  since: number,
  onEntry: (entry: T, place: JournalPosition) => void,
  onDamage?: OnDamage,
): Promise<void> {
  for (const path of (await listDayFiles(folder, since)).flat()) {
    const reading = { path, format, damaged: 'skip' } as const;
    const { skipped } = await scan(reading, (entry, span) => onEntry(entry, { path, ...span }));
    if (skipped > 0) onDamage?.({ path, lines: skipped });
  }
}

/** Deletes the days before the day of a time (ms). */
export async function removeOldDays(folder: string, before: number): Promise<void> {
  const last = dayOf(before);
  const days = (await namesIn(folder)).filter((name) => DAY.test(name) && name < last);
  for (const day of days) await rm(join(folder, day), { recursive: true, force: true });
}

/** Returns the name of the day of a time (ms). */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw new UsageError(`Can't read ${folder}: ${diskReason(error)}.`, {
      cause: error,
      hint: 'Set ESIGN_STATE_DIR to a folder that can be read and written.',
    });
  }
}
