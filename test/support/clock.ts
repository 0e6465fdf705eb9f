import type { Clock } from '../../src/kernel/clock.ts';

/** A clock that stands still until something sleeps on it, and then jumps to the end of the sleep. */
export interface FakeClock extends Clock {
  /** Every requested sleep, in ms. */
  slept: number[];
  time: number;
}

export function fakeClock(start = Date.UTC(2026, 0, 2, 3, 4, 5)): FakeClock {
  const clock: FakeClock = {
    time: start,
    slept: [],
    now: () => clock.time,
    sleep: (ms, signal) => {
      signal?.throwIfAborted();
      clock.slept.push(ms);
      clock.time += ms;
      return Promise.resolve();
    },
  };
  return clock;
}
