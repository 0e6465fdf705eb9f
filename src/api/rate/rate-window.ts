import type { Clock } from '../../kernel/clock.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { isPlausibleReset, type RateLimit } from './rate-limit.ts';
import { nameOf, type RateState, type Window, type WindowFile } from './window-file.ts';

/** A request that was counted and may be sent. Passed to `observe` with its response. */
export interface CountedRequest {
  window: Window;
  sentAt: number;
  /** Whether the request checks a window that seemed to be used up. If so, its response overrides the known state. */
  isCheck: boolean;
}

export interface RateWindowOptions {
  clock: Clock;
  counter: WindowFile;
  /** The share of the window, 0 to 1, that is left for others. */
  reserve: number;
  /** The longest wait for a new window, in ms; a longer one fails with RATE_LIMITED. */
  maxWaitMs: number;
  onWait?: ((wait: { ms: number; error: Error }) => void) | undefined;
}

/** The state of the window, for estimates. */
export interface RateReading {
  limit: number;
  /** The number of requests that may still be sent in this window, without the reserve. */
  free: number;
  resetAt: number | undefined;
}

/** Added to the reset, which is a time of another machine's clock. A little late is better than a little early. */
const MARGIN_MS = 100;
/** The margin used once the service has reset later than announced. */
const LATE_MARGIN_MS = 1_000;
/** Resets closer together than this are treated as the same reset. */
const SAME_RESET_MS = 1_000;
/** The documented window. A longer wait is first checked with one request. */
const USUAL_WINDOW_MS = 15 * 60_000;
/** How long a new window may be delayed by requests that have no response yet. */
const MAX_SILENCE_MS = 2_000;
const POLL_MS = 25;

/**
 * Delays requests so that all processes on this machine together stay within the service's rate window (API document, Limits).
 * Each request is counted before it is sent, and not sent if the window is used up. The first request is sent alone, because
 * only its response shows the limit. Without rate-limit headers, requests are never delayed.
 */
export class RateWindow {
  readonly #options: RateWindowOptions;
  #pace: { reserve: number; maxWaitMs: number };
  #unlimited = false;
  #probe: Promise<void> | undefined;
  #probed: (() => void) | undefined;
  /** The reset in the last response that this process received. */
  #confirmedReset = Number.NEGATIVE_INFINITY;
  #pause: Promise<void> | undefined;
  #margin = MARGIN_MS;

  constructor(options: RateWindowOptions) {
    this.#options = options;
    this.#pace = options;
  }

  /** Runs `work` with at least this reserve and a longest wait of at least this. A longest wait of 0 (--no-wait) stays 0. */
  async withReserve<T>(pace: { reserve: number; maxWaitMs: number }, work: () => Promise<T>): Promise<T> {
    const before = this.#pace;
    this.#pace = {
      reserve: Math.max(before.reserve, pace.reserve),
      maxWaitMs: before.maxWaitMs === 0 ? 0 : Math.max(before.maxWaitMs, pace.maxWaitMs),
    };
    try {
      return await work();
    } finally {
      this.#pace = before;
    }
  }

  /** Returns the state of the current window; undefined before the first response or without rate-limit headers. */
  reading(): RateReading | undefined {
    const state = this.#currentState();
    if (state === undefined) return undefined;
    const used = this.#options.counter.count(nameOf(state.window)) + state.foreign;
    return {
      limit: state.limit,
      free: Math.max(0, this.#budget(state) - used),
      resetAt: state.resetAt,
    };
  }

  /**
   * Counts one request and resolves when it may be sent. Returns the window in which it was counted, for `observe`.
   * @throws ServiceError RATE_LIMITED if that would take longer than the longest wait.
   */
  async acquire(signal?: AbortSignal): Promise<CountedRequest | undefined> {
    const { clock } = this.#options;
    let silentSince: number | undefined;
    while (!this.#unlimited) {
      signal?.throwIfAborted();
      const state = this.#currentState();
      if (state === undefined || this.#needsProbe(state)) {
        if (this.#probe === undefined) return this.#startProbe(state !== undefined);
        await this.#probe;
        continue;
      }
      const counted = { window: state.window, sentAt: clock.now(), isCheck: false };
      if (this.#take(state)) return counted;
      if (state.resetAt !== undefined) await this.#waitFor(state.resetAt, signal);
      else {
        silentSince ??= clock.now();
        if (clock.now() - silentSince > MAX_SILENCE_MS) return counted;
        await clock.sleep(POLL_MS, signal);
      }
    }
    return undefined;
  }

  /** Counts one request if the window has room for it. */
  #take(state: RateState): boolean {
    const { counter } = this.#options;
    const name = nameOf(state.window);
    const budget = this.#budget(state) - state.foreign;
    // If another process has used up the window in the meantime, the count includes one request that is not sent.
    return counter.countedBefore(name) < budget && counter.add(name) <= budget;
  }

  /** Records the response to a counted request; `rate` is undefined without a response. */
  observe(counted: CountedRequest | undefined, rate: RateLimit | undefined, refused = false): void {
    this.#endProbe();
    if (rate === undefined) return;
    const state = this.#currentState();
    const { limit, remaining, resetAt } = rate;
    if (limit === undefined || remaining === undefined || !this.#isUsable(resetAt)) {
      this.#unlimited = state === undefined;
      return;
    }
    this.#unlimited = false;
    this.#confirmedReset = resetAt;
    if (counted?.isCheck && state !== undefined && counted.sentAt >= state.writtenAt) {
      const known = { window: counted.window, limit, resetAt: undefined, foreign: 0 };
      this.#saveState(known, limit, remaining, resetAt);
      return;
    }
    const position = compareWindow(resetAt, state, counted);
    if (position === 'earlier') {
      // The previous window refused the request, so it ended later than announced.
      if (refused) this.#margin = LATE_MARGIN_MS;
      return;
    }
    const window: Window =
      position === 'same' && state !== undefined ? state.window : { kind: 'until', resetAt };
    const name = nameOf(window);
    // The request was sent in one window but received in the next, where the service counts it.
    if (counted === undefined || nameOf(counted.window) !== name) this.#options.counter.add(name);
    const isKnown = state !== undefined && nameOf(state.window) === name;
    this.#saveState(
      isKnown ? state : { window, limit, resetAt: undefined, foreign: 0 },
      limit,
      remaining,
      resetAt,
    );
  }

  #saveState(state: Omit<RateState, 'writtenAt'>, limit: number, remaining: number, resetAt: number): void {
    const { counter, clock } = this.#options;
    const { window } = state;
    const name = nameOf(window);
    const used = limit - remaining;
    // The count never decreases, so most responses need no disk access.
    const isMore = used - counter.countedBefore(name) > state.foreign;
    const foreign = isMore ? Math.max(state.foreign, used - counter.count(name)) : state.foreign;
    if (state.resetAt === resetAt && state.limit === limit && state.foreign === foreign) return;
    counter.write({ window, limit, resetAt, foreign, writtenAt: clock.now() });
  }

  /** Returns true before a long wait or a refusal, unless a response to this process has confirmed this reset. */
  #needsProbe({ window, limit, resetAt, foreign }: RateState): boolean {
    if (resetAt === undefined || Math.abs(resetAt - this.#confirmedReset) < SAME_RESET_MS) return false;
    const ms = resetAt - this.#options.clock.now();
    if (ms <= Math.min(this.#pace.maxWaitMs, USUAL_WINDOW_MS)) return false;
    const budget = this.#budget({ limit }) - foreign;
    return this.#options.counter.count(nameOf(window)) >= budget;
  }

  #isUsable(resetAt: number | undefined): resetAt is number {
    return resetAt !== undefined && isPlausibleReset(resetAt, this.#options.clock.now() - SAME_RESET_MS);
  }

  /** Returns the known state; undefined if it seems to be from the future because the clock was set back. */
  #currentState(): RateState | undefined {
    const last = this.#options.counter.read();
    const now = this.#options.clock.now();
    if (last === undefined || last.writtenAt > now + SAME_RESET_MS) return undefined;
    if (last.resetAt === undefined || now < last.resetAt + this.#margin) return last;
    return { ...last, window: { kind: 'after', resetAt: last.resetAt }, resetAt: undefined, foreign: 0 };
  }

  #budget({ limit }: Pick<RateState, 'limit'>): number {
    return Math.max(1, Math.floor(limit * (1 - this.#pace.reserve)));
  }

  /**
   * Starts a probe. The first one joins the window shown by its response, which other processes may have found in the meantime.
   * With a separate count, it would miss their requests in flight.
   */
  #startProbe(isCheck: boolean): CountedRequest {
    const { clock, counter } = this.#options;
    const sentAt = clock.now();
    const window: Window = { kind: 'probe', sentAt };
    counter.add(nameOf(window));
    this.#probe = new Promise((resolve) => {
      this.#probed = resolve;
    });
    return { window, sentAt, isCheck };
  }

  #endProbe(): void {
    this.#probed?.();
    this.#probe = undefined;
    this.#probed = undefined;
  }

  async #waitFor(resetAt: number, signal?: AbortSignal): Promise<void> {
    const { clock, onWait } = this.#options;
    const { maxWaitMs } = this.#pace;
    const ms = Math.max(0, resetAt + this.#margin - clock.now());
    if (ms > maxWaitMs + this.#margin) throw rateLimitReached(resetAt);
    if (this.#pause === undefined) {
      onWait?.({ ms, error: rateLimitReached(resetAt) });
      this.#pause = clock.sleep(ms, signal).finally(() => {
        this.#pause = undefined;
      });
    }
    // The pause may have been ended by the signal of another request. In that case, the loop checks again.
    await this.#pause.catch(() => undefined);
  }
}

/**
 * Returns whether a response with this reset belongs to the known window, the previous one, or a new one. A request sent after
 * the window was recorded can't belong to the previous one, so in that case the record was wrong.
 */
function compareWindow(
  resetAt: number,
  state: RateState | undefined,
  counted: CountedRequest | undefined,
): 'earlier' | 'same' | 'next' {
  if (state === undefined) return 'next';
  const { window } = state;
  if (state.resetAt === undefined)
    return window.kind !== 'after' || resetAt > window.resetAt ? 'same' : 'earlier';
  if (resetAt <= state.resetAt - SAME_RESET_MS)
    return counted !== undefined && counted.sentAt > state.writtenAt ? 'next' : 'earlier';
  return resetAt >= state.resetAt + SAME_RESET_MS ? 'next' : 'same';
}

function rateLimitReached(resetAt: number): ServiceError {
  return new ServiceError('RATE_LIMITED', 'The rate limit for this API key has been reached.', {
    status: 429,
    resetAt,
  });
}
