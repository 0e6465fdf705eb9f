import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Wakeable } from '../kernel/async/wakeable.ts';
import type { Clock } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { readLine } from './checksummed-line.ts';
import { dayOf, listDayFiles } from './day-journal.ts';
import { linesOf } from './read-lines.ts';
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
  const pause = new Wakeable(clock);
  let watcher: FSWatcher | undefined;
  let watchedDay = '';
  try {
    while (!signal.aborted) {
      for (const path of await recentFiles(folder, clock)) yield* newEntries(path, format, ends);
      const today = dayOf(clock.now());
      if (watchedDay !== today) watcher?.close();
      if (watchedDay !== today || watcher === undefined) watcher = watchFolder(join(folder, today), pause);
      watchedDay = today;
      await pause.wait(POLL_MS, signal).catch(() => undefined);
    }
  } finally {
    watcher?.close();
  }
}

/** Yields the entries appended to a file since it was last read. */
async function* newEntries<T>(
  path: string,
  format: JournalFormat<T>,
  ends: Map<string, number>,
): AsyncGenerator<T, void, undefined> {
  const from = ends.get(path) ?? 0;
  if ((await sizeOf(path)) <= from) return;
  for await (const { bytes, end } of linesOf(path, from)) {
    ends.set(path, end);
    const entry = format.read(readLine(bytes));
    if (entry !== undefined) yield entry;
  }
}

/** Wakes when something changes in a folder. Returns undefined if it is missing, or if there are no more file watches. */
function watchFolder(path: string, pause: Wakeable): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, () => pause.wake());
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}

/** Includes yesterday's files, because an entry near midnight may still be written there. */
async function recentFiles(folder: string, clock: Clock): Promise<string[]> {
  return (await listDayFiles(folder, clock.now() - DAY_MS)).flat();
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
