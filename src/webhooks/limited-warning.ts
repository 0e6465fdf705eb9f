import type { Clock } from '../kernel/clock.ts';

/** The minimum time between two reports, because anyone who can reach the listener can cause them endlessly. */
const INTERVAL_MS = 60_000;

/** Reports something that may happen very often: the first time immediately, then at most once a minute and at the end, with the number. */
export class LimitedWarning {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #count = 0;
  #describe: (count: number) => string = () => '';

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /** @param describe returns the message for the number of times since the last report */
  report(describe: (count: number) => string): void {
    this.#count++;
    this.#describe = describe;
    const now = this.#clock.now();
    // If the clock was set back, reports must not stop.
    if (Math.abs(now - this.#reportedAt) < INTERVAL_MS) return;
    this.#reportedAt = now;
    this.end();
  }

  /** Reports what wasn't reported yet. */
  end(): void {
    if (this.#count > 0) this.#warn(this.#describe(this.#count));
    this.#count = 0;
  }
}
