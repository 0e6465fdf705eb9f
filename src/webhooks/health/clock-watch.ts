import type { Clock } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import type { Delivery } from '../receive/delivery.ts';

/** What the service's clock is asked by; undefined when it does not tell. */
export type ServiceTime = (signal: AbortSignal) => Promise<number | undefined>;

export interface ClockWatchOptions {
  clock: Clock;
  /** ms from any point on, that no setting of the clock moves. */
  elapsed: () => number;
  serviceTime: ServiceTime | undefined;
  /** How often the service is asked while nothing looks wrong. */
  askEveryMs: number;
}

/** More than the way of a delivery and the whole seconds of a header. */
const OFF_MS = 60_000;
/** The service is not asked more often than this. */
const LEAST_BETWEEN_MS = 5_000;
const ANSWERED_WITHIN_MS = 5_000;

/** A time by the service's clock, and when it was so. */
interface Heard {
  time: number;
  at: number;
}

/**
 * Whether this machine's clock agrees with the service's. Deliveries tell it for nothing when it is behind: nothing comes
 * from the future. One that comes late proves nothing, so then the service is asked, where it is known.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #stop = new AbortController();
  #delivered: Heard | undefined;
  #answered: Heard | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #isSuspicious = false;
  /** An answer has said so: this machine may have slept since an earlier one, and no clock that runs then counts that. */
  #isConfirmed = false;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  take({ verified, facts }: Delivery): void {
    const time = Date.parse(facts?.timestamp ?? '');
    if (!verified || Number.isNaN(time)) return;
    const late = this.#options.clock.now() - time;
    this.#isSuspicious ||= late > OFF_MS;
    // An old one may come late by a good clock, too.
    if (late <= OFF_MS) this.#delivered = { time, at: this.#options.elapsed() };
  }

  /** Asks the service where that is due, without waiting for it. */
  trouble(): string | undefined {
    const ahead = this.#aheadOf(this.#answered);
    const isOff = Math.abs(ahead) > OFF_MS;
    this.#isConfirmed &&= isOff;
    this.#askIfDue(isOff);
    const off = this.#isConfirmed ? ahead : Math.min(0, this.#aheadOf(this.#delivered));
    if (Math.abs(off) <= OFF_MS) return undefined;
    return `The clock of this machine is ${durationInWords(Math.abs(off))} ${off > 0 ? 'ahead of' : 'behind'} the service's.`;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** How far our clock is ahead of what was heard, in ms. */
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
