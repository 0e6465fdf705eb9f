import type { Clock } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';

/** Allows something a limited number of times per day (UTC). */
export class DailyLimit {
  readonly #max: number;
  readonly #clock: Clock;
  #day = Number.NaN;
  #count = 0;

  constructor(max: number, clock: Clock) {
    this.#max = max;
    this.#clock = clock;
  }

  /** Whether `take` would return true. */
  get isOpen(): boolean {
    return this.#today() !== this.#day || this.#count < this.#max;
  }

  /** Returns whether it is allowed once more today. */
  take(): boolean {
    if (!this.isOpen) return false;
    const day = this.#today();
    this.#count = day === this.#day ? this.#count + 1 : 1;
    this.#day = day;
    return true;
  }

  #today(): number {
    return Math.floor(this.#clock.now() / DAY_MS);
  }
}
