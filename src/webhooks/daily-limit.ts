import type { Clock } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';

/** Limits how many things, and how many of their bytes, are kept per day (UTC). */
export class DailyLimit {
  readonly #clock: Clock;
  readonly #max: { count: number; bytes: number };
  #kept = { day: 0, count: 0, bytes: 0 };

  constructor(clock: Clock, max: { count: number; bytes: number }) {
    this.#clock = clock;
    this.#max = max;
  }

  /** Returns true if another one may be kept today, and counts it. */
  allows(bytes: number): boolean {
    const day = Math.floor(this.#clock.now() / DAY_MS);
    if (this.#kept.day !== day) this.#kept = { day, count: 0, bytes: 0 };
    const [count, total] = [this.#kept.count + 1, this.#kept.bytes + bytes];
    if (count > this.#max.count || total > this.#max.bytes) return false;
    this.#kept = { day, count, bytes: total };
    return true;
  }
}
