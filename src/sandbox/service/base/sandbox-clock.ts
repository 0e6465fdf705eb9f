import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/duration.ts';

type Now = Pick<Clock, 'now'>;

/** The maximum difference between the sandbox's clock and the machine's, in ms: a century. */
export const MAX_OFFSET_MS = 100 * 365 * DAY_MS;

/** The sandbox's clock as stored. */
export interface ClockRecord {
  /** The offset from the machine's clock, in ms. */
  value: number;
  /** The time of a frozen clock, in ms since the epoch, because its offset refers to the start of the process. Absent if the clock runs. */
  frozenAt?: number | undefined;
}

/** The clock of the sandbox: the machine's clock plus a persisted offset. */
export class SandboxClock implements Now {
  readonly #base: Now;
  readonly #isFrozen: boolean;
  /** How far the sandbox's clock is ahead of the machine's, in ms. A caller that sets it must persist it. */
  offsetMs = 0;

  constructor(base: Now, { isFrozen = false }: { isFrozen?: boolean | undefined } = {}) {
    this.#isFrozen = isFrozen;
    const startedAt = base.now();
    this.#base = isFrozen ? { now: () => startedAt } : base;
  }

  /** Returns the record of an offset. */
  recordOf(offset: number): ClockRecord {
    return this.#isFrozen ? { value: offset, frozenAt: this.#base.now() + offset } : { value: offset };
  }

  /** Returns the offset for a record, which may be from an earlier run. */
  offsetOf({ value, frozenAt }: ClockRecord): number {
    return this.#isFrozen && frozenAt !== undefined ? this.offsetFor(frozenAt) : value;
  }

  /** Returns the offset at which the clock would show this time now. */
  offsetFor(time: number): number {
    return time - this.#base.now();
  }

  now(): number {
    return this.#base.now() + this.offsetMs;
  }
}

/** Returns a time as ISO 8601 in UTC, like every timestamp of the API. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
