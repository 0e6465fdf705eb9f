import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeExpiredDays } from '../../../src/webhooks/journal/retention.ts';
import { fakeClock } from '../../support/clock.ts';

const DAY = 86_400_000;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-retention-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function day(kind: string, name: string): Promise<void> {
  await mkdir(join(folder, kind, name), { recursive: true });
  await writeFile(join(folder, kind, name, '1-abc.jsonl'), '');
}

/** Runs it for this many days; returns its reports. */
async function tidy(days: number, keepMs: number): Promise<{ removed: number[]; failures: unknown[] }> {
  const clock = fakeClock(Date.UTC(2026, 0, 31, 12));
  const stop = new AbortController();
  const removed: number[] = [];
  const failures: unknown[] = [];
  const { sleep } = clock;
  clock.sleep = (ms, signal) => {
    if (clock.slept.length < days) return sleep(ms, signal);
    stop.abort();
    return Promise.resolve();
  };
  await removeExpiredDays({
    eventsFolder: join(folder, 'events'),
    forwardsFolder: join(folder, 'forwards'),
    keepMs,
    clock,
    signal: stop.signal,
    onRemoved: (count) => removed.push(count),
    onFailure: (error) => failures.push(error),
  });
  return { removed, failures };
}

it('deletes older days, immediately and then daily, and nothing else', async () => {
  for (const kind of ['events', 'forwards'])
    for (const name of ['2025-12-31', '2026-01-01', '2026-01-02', '2026-01-03', '2026-01-31', 'notes'])
      await day(kind, name);
  await writeFile(join(folder, 'forwards', '1-abc.0123.lock'), '999999999 1');
  await writeFile(join(folder, 'forwards', '2-gone.0123.lock'), '999999999 1');
  expect(await tidy(0, 30 * DAY)).toEqual({ removed: [1], failures: [] });
  const left = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-31', 'notes'];
  expect(await readdir(join(folder, 'events'))).toEqual(left);
  expect(await readdir(join(folder, 'forwards'))).toEqual(
    [
      // Days with events may have pending forwards.
      '1-abc.0123.lock',
      ...left,
    ].toSorted(),
  );
  expect(await tidy(2, 30 * DAY)).toEqual({ removed: [1, 1], failures: [] });
  expect(await readdir(join(folder, 'events'))).toEqual(left.slice(2));
});

it('keeps pending forwards of the last day', async () => {
  await day('events', '2026-01-30');
  expect(await tidy(0, DAY)).toEqual({ removed: [], failures: [] });
});

it('continues after a failure, and works without folders', async () => {
  expect(await tidy(1, DAY)).toEqual({ removed: [], failures: [] });
  await writeFile(join(folder, 'events'), 'a file');
  expect((await tidy(1, DAY)).failures).toHaveLength(2);
});
