import { stat } from 'node:fs/promises';
import type { Clock } from '../kernel/clock.ts';
import { dayFiles } from './day-journal.ts';
import { readLine } from './line.ts';
import { linesOf } from './lines.ts';
import type { JournalFormat } from './scan.ts';

/** The interval for checking the files. */
const POLL_MS = 250;
const DAY_MS = 86_400_000;

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
  while (!signal.aborted) {
    for (const path of await recentFiles(folder, clock)) {
      for await (const line of linesAfter(path, ends)) {
        const entry = format.read(readLine(line));
        if (entry !== undefined) yield entry;
      }
    }
    await clock.sleep(POLL_MS, signal).catch(() => undefined);
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

/** Includes yesterday's files, because an entry near midnight may still be written there. */
async function recentFiles(folder: string, clock: Clock): Promise<string[]> {
  return (await dayFiles(folder, clock.now() - DAY_MS)).flat();
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
