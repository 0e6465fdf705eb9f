import type { Clock } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import type { Delivery } from '../receive/delivery.ts';

/** Returns the service's time, or undefined if it isn't known. */
export type ServiceTime = (signal: AbortSignal) => Promise<number | undefined>;

export interface ClockWatchOptions {
  clock: Clock;
  /** Undefined if no service is configured. */
  serviceTime?: ServiceTime | undefined;
  /** The interval between requests to the service while the clocks seem to agree. */
  askEveryMs?: number | undefined;
  /** Returns monotonic ms. Tests replace it. */
  elapsed?: (() => number) | undefined;
}

/** The difference (ms) that is reported. It exceeds the latency of a delivery and the resolution of a Date header. */
const MAX_DIFFERENCE_MS = 60_000;
const DEFAULT_INTERVAL_MS = 300_000;
/** The minimum interval between two requests. */
const MIN_INTERVAL_MS = 5_000;
const TIMEOUT_MS = 5_000;

/** A time of the service's clock, with the local time at which it was received. */
interface ClockReading {
  time: number;
  at: number;
}

/**
 * Compares this machine's clock with the service's. If the local clock is behind, deliveries show it: their timestamps are in the
 * future. If it is ahead, deliveries only seem late, which proves nothing, so the service is asked for its time, if it is known.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #elapsed: () => number;
  readonly #stop = new AbortController();
  #delivered: ClockReading | undefined;
  #serviceTime: ClockReading | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #isSuspicious = false;
  /**
   * Whether the latest response confirms the difference. An earlier response isn't enough: the machine may have slept since then,
   * and monotonic clocks don't count that time.
   */
  #isConfirmed = false;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  addDelivery({ verified, timestamp }: Delivery): void {
    const time = Date.parse(timestamp ?? '');
    if (!verified || Number.isNaN(time)) return;
    const late = this.#options.clock.now() - time;
    this.#isSuspicious ||= late > MAX_DIFFERENCE_MS;
    // A delivery that seems late says nothing about the clock.
    if (late <= MAX_DIFFERENCE_MS) this.#delivered = { time, at: this.#elapsed() };
  }

  /** Returns the problem with the clock, if any. Asks the service again if that is due, without waiting for the response. */
  findProblem(): string | undefined {
    const ahead = this.#aheadOf(this.#serviceTime);
    const isOff = Math.abs(ahead) > MAX_DIFFERENCE_MS;
    this.#isConfirmed &&= isOff;
    this.#requestTimeIfDue(isOff);
    const off = this.#isConfirmed ? ahead : Math.min(0, this.#aheadOf(this.#delivered));
    if (Math.abs(off) <= MAX_DIFFERENCE_MS) return undefined;
    return `The clock on this machine is ${durationInWords(Math.abs(off))} ${off > 0 ? 'ahead of' : 'behind'} the service's.`;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Returns how far the local clock is ahead of the service's, in ms. */
  #aheadOf(reading: ClockReading | undefined): number {
    const { clock } = this.#options;
    return reading === undefined ? 0 : clock.now() - (reading.time + this.#elapsed() - reading.at);
  }

  #requestTimeIfDue(isOff: boolean): void {
    const { serviceTime, askEveryMs = DEFAULT_INTERVAL_MS } = this.#options;
    const passed = this.#elapsed() - this.#askedAt;
    const pause = isOff || this.#isSuspicious ? MIN_INTERVAL_MS : askEveryMs;
    if (serviceTime === undefined || this.#isAsking || passed < pause) return;
    this.#isAsking = true;
    this.#isSuspicious = false;
    this.#askedAt = this.#elapsed();
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    void serviceTime(signal)
      .catch(() => undefined)
      .then((time) => {
        this.#isAsking = false;
        this.#serviceTime = time === undefined ? undefined : { time, at: this.#elapsed() };
        this.#isConfirmed = Math.abs(this.#aheadOf(this.#serviceTime)) > MAX_DIFFERENCE_MS;
      });
  }
}
