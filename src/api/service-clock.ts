import type { Clock } from '../kernel/clock.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The Date header counts whole seconds and took a while to get here: only more than this is another clock. */
const SKEW_MS = 3_000;
/** Clocks differ: an envelope "created" up to this long (ms) before a request may still be what that request made. */
export const CLOCK_SLACK_MS = 10 * 60_000;

/** How far this machine's clock is ahead of the service's, in ms; 0 when they agree, undefined when the reply tells no time. */
export function skewOf(headers: Headers, now: number): number | undefined {
  const theirs = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  if (Number.isNaN(theirs)) return undefined;
  return Math.abs(now - theirs) < SKEW_MS ? 0 : now - theirs;
}

/**
 * The service's time, by which its envelopes are as old as they are: what its last reply said, and what has passed since.
 * Until one has told it, and where the clocks agree, it is the machine's.
 */
export class ServiceClock {
  readonly #machine: Clock;
  readonly #elapsed: () => number;
  #heard: { time: number; at: number } | undefined;

  /** `elapsed`: ms from any point on, that no setting of the clock moves. */
  constructor(machine: Clock, elapsed: () => number = () => performance.now()) {
    this.#machine = machine;
    this.#elapsed = elapsed;
  }

  /** A reply has just begun to arrive. */
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

  /** What the service's clock showed when the machine's showed `time` (ms), as far as replies until now tell it. */
  at(time: number): number {
    return this.now() - (this.#machine.now() - time);
  }

  /** The earliest that what was asked for when the machine's clock showed `time` (ms) may say it was created. */
  earliest(time: number): number {
    return this.at(time) - CLOCK_SLACK_MS;
  }
}
