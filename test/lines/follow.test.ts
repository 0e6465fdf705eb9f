import { appendFile, rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { DayJournal } from '../../src/lines/day-journal.ts';
import { followDays } from '../../src/lines/follow.ts';
import type { JournalFormat } from '../../src/lines/scan.ts';
import { newFolder } from '../support/folder.ts';

const entry = z.object({ n: z.number() });
const format: JournalFormat<{ n: number }> = {
  kind: 'numbers',
  version: 1,
  read: (value) => entry.safeParse(value).data,
};
let folder: string;
let over: AbortController;

beforeEach(() => {
  folder = newFolder();
  over = new AbortController();
});
afterEach(() => {
  over.abort();
});

/** Reads this many entries, then ends. */
async function take(source: AsyncGenerator<{ n: number }>, count: number): Promise<number[]> {
  const seen: number[] = [];
  for await (const { n } of source) {
    seen.push(n);
    if (seen.length === count) break;
  }
  return seen;
}

let firstRead: Promise<void>;

/** Follows the journal; it has read the existing entries when it sleeps for the first time. */
function follow(now: Clock['now'] = systemClock.now) {
  let begin: () => void;
  firstRead = new Promise((resolve) => {
    begin = resolve;
  });
  const sleep: Clock['sleep'] = (ms, signal) => {
    begin();
    return systemClock.sleep(ms, signal);
  };
  return followDays(folder, format, { clock: { now, sleep }, signal: over.signal });
}

it('returns entries appended from now on, by any writer, and skips damaged lines', async () => {
  const before = new DayJournal(folder, format, systemClock);
  await before.append({ n: 0 });
  const seen = take(follow(), 4);
  await firstRead;
  const { path } = await before.append({ n: 1 });
  const other = new DayJournal(folder, format, systemClock);
  await other.append({ n: 2 });
  await before.append({ n: 3 });
  await appendFile(path, '{"n":9,"crc":"00000000"}\n');
  await before.append({ n: 4 });
  expect((await seen).toSorted()).toEqual([1, 2, 3, 4]);
  await Promise.all([before.close(), other.close()]);
});

it('continues with the next file if one is deleted', async () => {
  const journal = new DayJournal(folder, format, systemClock);
  for (const n of [0, 1, 2]) await journal.append({ n });
  const seen = take(follow(), 2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { path } = await journal.append({ n: 3 });
  await rm(path);
  await journal.append({ n: 4 });
  await journal.append({ n: 5 });
  expect((await seen).at(-1)).toBeGreaterThanOrEqual(4);
  await journal.close();
});

it('starts without a journal, and continues over midnight', async () => {
  let now = Date.parse('2026-01-31T23:59:59Z');
  const clock: Clock = { now: () => now, sleep: systemClock.sleep };
  const seen = take(follow(clock.now), 2);
  await firstRead;
  const journal = new DayJournal(folder, format, clock);
  await journal.append({ n: 1 });
  now += 2_000;
  await journal.append({ n: 2 });
  expect(await seen).toEqual([1, 2]);
  await journal.close();
});

it('stops on its signal', async () => {
  const seen = take(follow(), 1);
  over.abort();
  expect(await seen).toEqual([]);
});
