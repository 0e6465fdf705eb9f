import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';

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
