import type { Clock } from '../kernel/clock.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The Date header has whole seconds and is delayed: only a larger difference means another clock. */
const SKEW_MS = 3_000;
/** Clocks differ: an envelope created up to this long (ms) before a request may still be the one it created. */
export const CLOCK_SLACK_MS = 10 * 60_000;

/** Returns how far the local clock is ahead of the service's, in ms; 0 if they agree, undefined without a Date header. */
export function skewOf(headers: Headers, now: number): number | undefined {
  const theirs = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  if (Number.isNaN(theirs)) return undefined;
  return Math.abs(now - theirs) < SKEW_MS ? 0 : now - theirs;
}

/**
 * The service's time: that of its last response plus the time since. Before the first response, and if the clocks agree, it is
 * local time.
 */
export class ServiceClock {
  readonly #machine: Clock;
  readonly #elapsed: () => number;
  #heard: { time: number; at: number } | undefined;

  /** `elapsed` returns monotonic ms. */
  constructor(machine: Clock, elapsed: () => number = () => performance.now()) {
    this.#machine = machine;
    this.#elapsed = elapsed;
  }

  /** Reads the time of a response that has just begun to arrive. */
  hear(headers: Headers): void {
    const now = this.#machine.now();
    const skew = skewOf(headers, now);
    if (skew === undefined) return;
    this.#heard = skew === 0 ? undefined : { time: now - skew, at: this.#elapsed() };
  }

  /** Milliseconds since the epoch. */
  now(): number {
    if (this.#heard === undefined) return this.#machine.now();
    return this.#heard.time + Math.round(this.#elapsed() - this.#heard.at);
  }

  /** Converts local `time` (ms) to the service's clock. */
  at(time: number): number {
    return this.now() - (this.#machine.now() - time);
  }

  /** Returns the earliest creation time (service clock) of an envelope requested at local `time` (ms). */
  earliest(time: number): number {
    return this.at(time) - CLOCK_SLACK_MS;
  }
}
