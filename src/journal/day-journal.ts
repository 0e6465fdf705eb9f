import { randomBytes } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { codeOf, JournalError, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { Journal } from './journal.ts';
import { type JournalFormat, type Span, scan } from './scan.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The place of an entry, for reading it again. */
export interface JournalPosition extends Span {
  path: string;
}

/**
 * A journal in a folder a day, in it a file for each process, so that several write at the same time and old days can be
 * removed. An entry is on disk when `append` resolves.
 */
export class DayJournal<T> {
  /** Names this writer: its files are called so. */
  readonly name = `${process.pid}-${randomBytes(4).toString('hex')}`;
  readonly #folder: string;
  readonly #format: JournalFormat<T>;
  readonly #clock: Clock;
  #day: string | undefined;
  #journal: Promise<Journal<T>> | undefined;

  constructor(folder: string, format: JournalFormat<T>, clock: Clock) {
    this.#folder = folder;
    this.#format = format;
    this.#clock = clock;
  }

  /** Opens today's file, so that an unwritable folder is noticed immediately. @throws UsageError if it can't be opened */
  async open(): Promise<void> {
    await this.#today();
  }

  /**
   * After a failure the next one is tried again: a disk that was full may have room by then.
   * @throws JournalError or UsageError when it can't be written.
   */
  async append(entry: T): Promise<JournalPosition> {
    const journal = await this.#today();
    if (journal.hasFailed) await journal.reopen();
    return { path: journal.path, ...(await journal.append(entry)) };
  }

  /**
   * Checks whether an entry could be written, without writing one; retries after a failure, as `append` does.
   * @throws JournalError or UsageError when it could not.
   */
  async check(): Promise<void> {
    const journal = await this.#today();
    // A deleted file accepts entries, which are then lost.
    if (journal.hasFailed || !(await isThere(journal.path))) await journal.reopen();
    await tryDisk(join(dirname(journal.path), `${this.name}.check`));
  }

  async close(): Promise<void> {
    await (await this.#journal)?.close();
  }

  #today(): Promise<Journal<T>> {
    const day = dayOf(this.#clock.now());
    if (this.#journal !== undefined && this.#day === day) return this.#journal;
    const before = this.#journal;
    this.#day = day;
    const path = join(this.#folder, day, `${this.name}.jsonl`);
    const opened = Journal.open<T>({ path, format: this.#format });
    this.#journal = opened;
    opened.catch(() => {
      if (this.#journal === opened) this.#journal = undefined;
    });
    void before?.then((journal) => journal.close()).catch(() => undefined);
    return opened;
  }
}

/** More than a nearly full small disk has room for. */
const TRIED_BYTES = 4_096;

/** Writes a file as durably as an entry is written, and removes it. */
async function tryDisk(path: string): Promise<void> {
  try {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(Buffer.alloc(TRIED_BYTES));
      await file.datasync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new JournalError(`Can't write the journal in ${dirname(path)}: ${diskReason(error)}.`, {
      cause: error,
    });
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'ENOENT',
  );
}

/** The files of each day from a time (ms) on, the days in order. */
export async function dayFiles(folder: string, since: number): Promise<string[][]> {
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
 * Calls `visit` with each entry of the days since a time (ms) and its place. The files of a day come in no particular
 * order, the entries of a file in the order in which they were written. Damaged lines are left out and reported.
 */
export async function scanDays<T>(
  folder: string,
  format: JournalFormat<T>,
  since: number,
  take: (entry: T, place: JournalPosition) => void,
  onDamage?: OnDamage,
): Promise<void> {
  for (const path of (await dayFiles(folder, since)).flat()) {
    const reading = { path, format, damaged: 'skip' } as const;
    const { skipped } = await scan(reading, (entry, span) => take(entry, { path, ...span }));
    if (skipped > 0) onDamage?.({ path, lines: skipped });
  }
}

/** Removes the days before that of a time (ms). Returns how many. */
export async function forgetDays(folder: string, before: number): Promise<number> {
  const last = dayOf(before);
  const days = (await namesIn(folder)).filter((name) => DAY.test(name) && name < last);
  for (const day of days) await rm(join(folder, day), { recursive: true, force: true });
  return days.length;
}

/** The name of the day of a time (ms). */
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
