import { expect, it } from 'vitest';
import { Bell } from '../../src/kernel/bell.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { fakeClock } from '../support/clock.ts';

const LONG = 3_600_000;

it('ends a pause when it rings', async () => {
  const bell = new Bell(systemClock);
  const pause = bell.wait(LONG);
  bell.ring();
  expect(await pause).toBe(true);
});

it('ends the next pause when it rang between two, and only that one', async () => {
  const clock = fakeClock();
  const bell = new Bell(clock);
  bell.ring();
  expect(await bell.wait(LONG)).toBe(true);
  expect(await bell.wait(LONG)).toBe(false);
  expect(clock.slept).toEqual([LONG]);
});

it("rejects with the signal's reason, also when it rang", async () => {
  const bell = new Bell(systemClock);
  const stop = new AbortController();
  const pause = bell.wait(LONG, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(pause).rejects.toThrow('stopped');
  bell.ring();
  await expect(bell.wait(LONG, stop.signal)).rejects.toThrow('stopped');
});
