import type { Clock } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import type { Delivery } from '../receive/delivery.ts';

/** Returns the service's time; undefined if it isn't known. */
export type ServiceTime = (signal: AbortSignal) => Promise<number | undefined>;

export interface ClockWatchOptions {
  clock: Clock;
  /** Monotonic time in ms. */
  elapsed: () => number;
  serviceTime: ServiceTime | undefined;
  /** How often to ask the service while everything looks right. */
  askEveryMs: number;
}

/** More than the latency of a delivery and the resolution of a header. */
const OFF_MS = 60_000;
/** The minimum time between two requests. */
const LEAST_BETWEEN_MS = 5_000;
const ANSWERED_WITHIN_MS = 5_000;

/** A time of the service's clock, and the local time at that moment. */
interface Heard {
  time: number;
  at: number;
}

/**
 * Compares this machine's clock with the service's. Deliveries show whether it is behind, because none comes from the future.
 * A late delivery proves nothing, so the service is asked, if it is known.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #stop = new AbortController();
  #delivered: Heard | undefined;
  #answered: Heard | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #isSuspicious = false;
  /** A response said so. Don't rely on an earlier one: the machine may have slept since, which monotonic clocks don't count. */
  #isConfirmed = false;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  take({ verified, facts }: Delivery): void {
    const time = Date.parse(facts?.timestamp ?? '');
    if (!verified || Number.isNaN(time)) return;
    const late = this.#options.clock.now() - time;
    this.#isSuspicious ||= late > OFF_MS;
    // A delivery can be late even if the clock is right.
    if (late <= OFF_MS) this.#delivered = { time, at: this.#options.elapsed() };
  }

  /** Asks the service if it is time to, without waiting for the response. */
  trouble(): string | undefined {
    const ahead = this.#aheadOf(this.#answered);
    const isOff = Math.abs(ahead) > OFF_MS;
    this.#isConfirmed &&= isOff;
    this.#askIfDue(isOff);
    const off = this.#isConfirmed ? ahead : Math.min(0, this.#aheadOf(this.#delivered));
    if (Math.abs(off) <= OFF_MS) return undefined;
    return `The clock on this machine is ${durationInWords(Math.abs(off))} ${off > 0 ? 'ahead of' : 'behind'} the service's.`;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** How far our clock is ahead of the service's, in ms. */
  #aheadOf(heard: Heard | undefined): number {
    const { clock, elapsed } = this.#options;
    return heard === undefined ? 0 : clock.now() - (heard.time + elapsed() - heard.at);
  }

  #askIfDue(isOff: boolean): void {
    const { serviceTime, elapsed, askEveryMs } = this.#options;
    const passed = elapsed() - this.#askedAt;
    const pause = isOff || this.#isSuspicious ? LEAST_BETWEEN_MS : askEveryMs;
    if (serviceTime === undefined || this.#isAsking || passed < pause) return;
    this.#isAsking = true;
    this.#isSuspicious = false;
    this.#askedAt = elapsed();
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ANSWERED_WITHIN_MS)]);
    void serviceTime(signal)
      .catch(() => undefined)
      .then((time) => {
        this.#isAsking = false;
        this.#answered = time === undefined ? undefined : { time, at: elapsed() };
        this.#isConfirmed = Math.abs(this.#aheadOf(this.#answered)) > OFF_MS;
      });
  }
}
