import { afterEach, expect, it, vi } from 'vitest';
import { systemClock, TimeLimit } from '../../src/kernel/clock.ts';
import { fakeClock } from '../support/clock.ts';

const DAY_MS = 86_400_000;
afterEach(() => {
  vi.useRealTimers();
});

it('sleeps longer than the limit of a timer', async () => {
  vi.useFakeTimers();
  let isOver = false;
  const sleeping = systemClock.sleep(60 * DAY_MS).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(59 * DAY_MS);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(DAY_MS);
  await sleeping;
});

it('stops sleeping when the signal aborts', async () => {
  const stop = new AbortController();
  const sleeping = systemClock.sleep(DAY_MS, stop.signal);
  stop.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
});

it('has a time limit that does not grow when the clock is set back', () => {
  const clock = fakeClock();
  const limit = new TimeLimit(clock, 10_000);
  clock.time += 4_000;
  expect(limit.left()).toBe(6_000);
  clock.time -= 3_600_000;
  expect(limit.left()).toBe(6_000);
  clock.time += 7_000;
  expect(limit.left()).toBe(0);
});
