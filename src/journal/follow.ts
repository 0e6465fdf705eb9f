import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Wakeable } from '../kernel/async/wakeable.ts';
import type { Clock } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { dayFiles, dayOf } from './day-journal.ts';
import { readLine } from './line.ts';
import { linesOf } from './lines.ts';
import type { JournalFormat } from './scan.ts';

/** The interval for checking the files if the system doesn't report changes. */
const POLL_MS = 1_000;

/**
 * Yields entries that other processes append from now on, soon after they are on disk, in order within each file.
 * Ends when its signal aborts. Damaged lines are skipped.
 */
export async function* followDays<T>(
  folder: string,
  format: JournalFormat<T>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<T, void, undefined> {
  const ends = new Map<string, number>();
  for (const path of await recentFiles(folder, clock)) ends.set(path, await sizeOf(path));
  const changes = new FolderWatch(folder, clock, signal);
  try {
    while (!signal.aborted) {
      for (const path of await recentFiles(folder, clock)) {
        for await (const line of linesAfter(path, ends)) {
          const entry = format.read(readLine(line));
          if (entry !== undefined) yield entry;
        }
      }
      await changes.changed();
    }
  } finally {
    changes.close();
  }
}

/** Yields the lines appended to a file since it was last read. */
async function* linesAfter(path: string, ends: Map<string, number>): AsyncGenerator<Buffer, void, undefined> {
  const from = ends.get(path) ?? 0;
  if ((await sizeOf(path)) <= from) return;
  for await (const { bytes, end } of linesOf(path, from)) {
    ends.set(path, end);
    yield bytes;
  }
}

/** Wakes when something changes in today's folder, and regularly in case the system doesn't report it. */
class FolderWatch {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #pause: Wakeable;
  #watcher: FSWatcher | undefined;
  #day = '';

  constructor(folder: string, clock: Clock, signal: AbortSignal) {
    this.#folder = folder;
    this.#clock = clock;
    this.#signal = signal;
    this.#pause = new Wakeable(clock);
  }

  /** Resolves at the next change or when the signal aborts. */
  async changed(): Promise<void> {
    this.#lookAt(dayOf(this.#clock.now()));
    await this.#pause.wait(POLL_MS, this.#signal).catch(() => undefined);
  }

  close(): void {
    this.#watcher?.close();
  }

  #lookAt(day: string): void {
    if (this.#watcher !== undefined && this.#day === day) return;
    this.#watcher?.close();
    this.#day = day;
    const forget = () => {
      this.#watcher?.close();
      this.#watcher = undefined;
    };
    try {
      const onChange = () => this.#pause.wake();
      this.#watcher = watch(join(this.#folder, day), { persistent: false }, onChange).on('error', forget);
    } catch {
      // The folder is missing, or there are no more file watches: poll instead.
      this.#watcher = undefined;
    }
  }
}

/** Includes yesterday's files, because an entry near midnight may still be written there. */
async function recentFiles(folder: string, clock: Clock): Promise<string[]> {
  return (await dayFiles(folder, clock.now() - DAY_MS)).flat();
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
