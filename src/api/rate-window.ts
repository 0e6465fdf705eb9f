import type { Clock } from '../kernel/clock.ts';
import { ServiceError } from '../kernel/errors.ts';
import { isPlausibleReset, type RateLimit } from './rate-headers.ts';

/** The share of each window that long-running commands leave for the customer's other systems. */
export const RESERVE = 0.1;

export interface RateWindowOptions {
  clock: Clock;
  /** Returns a number from 0 to 1. */
  random: () => number;
  /** The share of the window, 0 to 1, that is left for others. */
  reserve: number;
  /** The longest wait for a new window, in ms; a longer one fails with RATE_LIMITED. */
  maxWaitMs: number;
  onWait?: ((wait: { ms: number; error: Error }) => void) | undefined;
}

/** How much of the window some work leaves to others, and how long it may wait. */
type Pace = Pick<RateWindowOptions, 'reserve' | 'maxWaitMs'>;

/** The state of the window, for estimates. */
export interface RateReading {
  limit: number;
  /** The number of requests that may still be sent in this window, without the reserve. */
  free: number;
  resetAt: number;
}

/** Added to the reset, which is a time of another machine's clock. A little late is better than a little early. */
const MARGIN_MS = 100;
/** The most that is added to a pause, so that several processes don't all continue at the same moment. */
const JITTER_MS = 1_000;
/** The pause after a refusal without Retry-After while the window has room. */
const BURST_PAUSE_MS = 1_000;
/** Resets closer together than this are the same reset. */
const SAME_RESET_MS = 1_000;
/** The share of what is free that may be in flight. The rest is for requests of others that no header shows yet. */
const SHARE_IN_FLIGHT = 0.5;

/**
 * Keeps the requests of this process within the service's rate window (API document, Limits). The headers of each response are the
 * state that all processes with the same key share. The first request is sent alone, because only its response shows the limit;
 * after that, at most half of what is free is in flight. Without rate-limit headers, requests are never delayed.
 */
export class RateWindow {
  readonly #options: RateWindowOptions;
  /** The paces of all work in progress. The largest reserve and the longest wait of them apply. */
  readonly #paces: Set<Pace>;
  #state: { limit: number; remaining: number; resetAt: number } | undefined;
  #inFlight = 0;
  /** Responses have no rate-limit headers. */
  #isUnlimited = false;
  /** After a refusal, nothing is sent until then (ms). */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pause: Promise<void> | undefined;
  #waiting: (() => void)[] = [];

  constructor(options: RateWindowOptions) {
    this.#options = options;
    this.#paces = new Set([options]);
  }

  /** Runs `work` with at least this reserve and a longest wait of at least this. A longest wait of 0 (--no-wait) stays 0. */
  async withReserve<T>(pace: Pace, work: () => Promise<T>): Promise<T> {
    const own = { ...pace };
    this.#paces.add(own);
    try {
      return await work();
    } finally {
      this.#paces.delete(own);
    }
  }

  /** Returns the state of the current window; undefined before the first response or without rate-limit headers. */
  reading(): RateReading | undefined {
    const state = this.#current();
    if (state === undefined) return undefined;
    return { limit: state.limit, free: Math.max(0, this.#free(state)), resetAt: state.resetAt };
  }

  /**
   * Resolves when a request may be sent. Every call must be followed by one of `observe`.
   * @throws ServiceError RATE_LIMITED if that would take longer than the longest wait.
   */
  async acquire(signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const pausedUntil = this.#pauseEnd();
      if (pausedUntil !== undefined) await this.#waitUntil(pausedUntil, signal);
      else if (this.#inFlight < this.#mostInFlight()) {
        this.#inFlight++;
        return;
      } else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Records the end of a request; `rate` is undefined without a response. */
  observe(rate: RateLimit | undefined, isRefused = false): void {
    this.#inFlight--;
    if (rate !== undefined) this.#take(rate, isRefused);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const proceed of waiting) proceed();
  }

  #take({ limit, remaining, resetAt, retryAfterMs }: RateLimit, isRefused: boolean): void {
    const now = this.#options.clock.now();
    // A gateway may limit short bursts while the window has room.
    if (isRefused && (retryAfterMs !== undefined || remaining !== 0))
      this.#pausedUntil = Math.max(this.#pausedUntil, now + (retryAfterMs ?? BURST_PAUSE_MS));
    if (
      limit === undefined ||
      remaining === undefined ||
      resetAt === undefined ||
      !isPlausibleReset(resetAt, now)
    ) {
      this.#isUnlimited = this.#current() === undefined;
      return;
    }
    this.#isUnlimited = false;
    const state = this.#current();
    if (state === undefined || resetAt >= state.resetAt + SAME_RESET_MS)
      this.#state = { limit, remaining, resetAt };
    // Responses arrive in any order; the lowest number is the latest one.
    else if (resetAt > state.resetAt - SAME_RESET_MS) state.remaining = Math.min(state.remaining, remaining);
  }

  /** Returns the window that responses have shown, unless it has ended. */
  #current() {
    const state = this.#state;
    return state !== undefined && this.#options.clock.now() < state.resetAt + MARGIN_MS ? state : undefined;
  }

  #free({ limit, remaining }: { limit: number; remaining: number }): number {
    // A reserve never keeps a window from being used at all.
    return remaining - Math.min(limit - 1, Math.ceil(limit * this.#reserve()));
  }

  #reserve(): number {
    return Math.max(...[...this.#paces].map(({ reserve }) => reserve));
  }

  #maxWaitMs(): number {
    if (this.#options.maxWaitMs === 0) return 0;
    return Math.max(...[...this.#paces].map(({ maxWaitMs }) => maxWaitMs));
  }

  #mostInFlight(): number {
    if (this.#isUnlimited) return Number.POSITIVE_INFINITY;
    const state = this.#current();
    return state === undefined ? 1 : Math.max(1, Math.floor(this.#free(state) * SHARE_IN_FLIGHT));
  }

  /** Returns when the next request may be sent (ms), if it has to wait for a reset or after a refusal. */
  #pauseEnd(): number | undefined {
    const now = this.#options.clock.now();
    if (now < this.#pausedUntil) return this.#pausedUntil;
    const state = this.#current();
    return state !== undefined && this.#free(state) <= 0 ? state.resetAt + MARGIN_MS : undefined;
  }

  /** Waits together with the other requests of this process. */
  async #waitUntil(end: number, signal?: AbortSignal): Promise<void> {
    const { clock, onWait, random } = this.#options;
    const ms = Math.max(0, end - clock.now());
    if (ms > this.#maxWaitMs() + MARGIN_MS) throw rateLimitReached(end);
    if (this.#pause === undefined) {
      const whole = ms + random() * JITTER_MS;
      onWait?.({ ms: whole, error: rateLimitReached(end) });
      this.#pause = clock.sleep(whole, signal).finally(() => {
        this.#pause = undefined;
      });
    }
    // The pause may have been ended by the signal of another request. In that case, the loop checks again.
    await this.#pause.catch(() => undefined);
  }
}

function rateLimitReached(resetAt: number): ServiceError {
  return new ServiceError('RATE_LIMITED', 'The rate limit for this API key has been reached.', {
    status: 429,
    resetAt,
  });
}
