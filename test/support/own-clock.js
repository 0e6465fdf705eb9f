/** The property of the process object of a command that replaces its clock (src/kernel/clock.ts). */
export const TEST_CLOCK = Symbol.for('esign-cli.test-clock');

/** Waits of this many ms or longer take no time. */
const LONG_MS = 1_500;

/**
 * Returns the clock of one command. A long wait ends immediately and advances only this clock; the sandbox and other commands keep the real
 * time. Short waits are real, because something else may happen meanwhile.
 */
export function ownClock() {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      const isLong = ms >= LONG_MS;
      if (isLong) ahead += ms;
      await new Promise((resolve) => setTimeout(resolve, isLong ? 0 : ms));
      signal?.throwIfAborted();
    },
  };
}
