import type { Clock } from '../kernel/clock.ts';

type DateHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The difference (ms) that counts as another clock. Date headers are in whole seconds and arrive delayed. */
const SKEW_MS = 3_000;
/** The allowance for different clocks. An envelope created up to this long (ms) before a request may still be the one it created. */
export const CLOCK_SLACK_MS = 10 * 60_000;
/** No Date header is later: its year has four digits. Other times derived from a later one might be none that can be shown. */
const END_OF_DATES = Date.UTC(10_000, 0);

/** Returns how far the local clock is ahead of the service's, in ms; 0 if they agree, undefined without a valid Date header. */
export function skewOf(headers: DateHeaders, now: number): number | undefined {
  const theirs = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  if (!(Math.abs(theirs) < END_OF_DATES)) return undefined;
  return Math.abs(now - theirs) < SKEW_MS ? 0 : now - theirs;
}

/**
 * The service's time: the time of its last response plus the time elapsed since. Before the first response, and if the clocks
 * agree, it is the local time.
 */
export class ServiceClock {
  readonly #machine: Clock;
  readonly #elapsed: () => number;
  #lastReading: { time: number; at: number } | undefined;

  /** `elapsed` returns monotonic ms. */
  constructor(machine: Clock, elapsed: () => number = () => performance.now()) {
    this.#machine = machine;
    this.#elapsed = elapsed;
  }

  /** Updates the time from a response that has just begun to arrive. */
  update(headers: DateHeaders): void {
    const now = this.#machine.now();
    const skew = skewOf(headers, now);
    if (skew === undefined) return;
    this.#lastReading = skew === 0 ? undefined : { time: now - skew, at: this.#elapsed() };
  }

  /** Milliseconds since the epoch. */
  now(): number {
    if (this.#lastReading === undefined) return this.#machine.now();
    return this.#lastReading.time + Math.round(this.#elapsed() - this.#lastReading.at);
  }

  /**
   * Returns the earliest creation time (service clock) of an envelope that was requested at local `time` (ms). If the local clock was set
   * back since, `time` is in the future, which counts as now.
   */
  earliest(time: number): number {
    return this.now() - Math.max(0, this.#machine.now() - time) - CLOCK_SLACK_MS;
  }
}
