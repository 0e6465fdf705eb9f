import { expect, it } from 'vitest';
import { Wakeable } from '../../../src/kernel/async/wakeable.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { fakeClock } from '../../support/clock.ts';

const LONG = 3_600_000;

it('ends a wait when it is woken', async () => {
  const wakeable = new Wakeable(systemClock);
  const pause = wakeable.wait(LONG);
  wakeable.wake();
  expect(await pause).toBe(true);
});

it('ends only the next wait when it is woken between two', async () => {
  const clock = fakeClock();
  const wakeable = new Wakeable(clock);
  wakeable.wake();
  expect(await wakeable.wait(LONG)).toBe(true);
  expect(await wakeable.wait(LONG)).toBe(false);
  expect(clock.slept).toEqual([LONG]);
});

it("rejects with the signal's reason even if it was woken", async () => {
  const wakeable = new Wakeable(systemClock);
  const stop = new AbortController();
  const pause = wakeable.wait(LONG, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(pause).rejects.toThrow('stopped');
  wakeable.wake();
  await expect(wakeable.wait(LONG, stop.signal)).rejects.toThrow('stopped');
});
