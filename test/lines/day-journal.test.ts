import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { systemClock } from '../../src/kernel/clock.ts';
import { DayJournal, scanDays } from '../../src/lines/day-journal.ts';
import type { JournalFormat } from '../../src/lines/scan.ts';
import { newFolder } from '../support/folder.ts';

const entrySchema = z.object({ n: z.number() });
const format: JournalFormat<{ n: number }> = {
  kind: 'numbers',
  version: 1,
  read: (value) => entrySchema.safeParse(value).data,
};

it('starts a new file if its file or the folder of the day was deleted', async () => {
  const folder = newFolder();
  const journal = new DayJournal(folder, format, systemClock);
  const { path } = await journal.append({ n: 0 });
  await rm(path);
  await Promise.all([journal.append({ n: 1 }), journal.append({ n: 2 })]);
  const first: number[] = [];
  await scanDays(folder, format, 0, ({ n }) => first.push(n));
  expect(first).toEqual([1, 2]);
  await rm(folder, { recursive: true });
  await journal.append({ n: 3 });
  const second: number[] = [];
  await scanDays(folder, format, 0, ({ n }) => second.push(n));
  expect(second).toEqual([3]);
  await journal.close();
});
