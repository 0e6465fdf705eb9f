import type { Clock } from '../../kernel/clock.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { isPlausibleReset, type RateLimit } from './rate-limit.ts';

/** The window requests are counted in: the one a probe found, the one with this reset, or the one after it. */
export type Window =
  | { kind: 'probe'; sentAt: number }
  | { kind: 'until'; resetAt: number }
  | { kind: 'after'; resetAt: number };

/** Returns the window's name, which is the same in every process. */
export function nameOf(window: Window): string {
  return `${window.kind}-${window.kind === 'probe' ? window.sentAt : window.resetAt}`;
}

/** The known state of a rate window. Times in ms since the epoch. */
export interface RateState {
  window: Window;
  limit: number;
  /** Undefined between the reset of the previous window and the first response in this one. */
  resetAt: number | undefined;
  /** Requests in this window by others than esign on this machine, as far as responses show. */
  foreign: number;
  /** When this was written. */
  writtenAt: number;
}

/** A request that was let through, for `observe`. */
export interface CountedRequest {
  window: Window;
  sentAt: number;
  /** It checks a window that seemed to be used up: its response overrides the known state. */
  isCheck: boolean;
}

/** The state that processes with the same key share on this machine. Never throws. */
export interface WindowCounter {
  read(): RateState | undefined;
  write(standing: RateState): void;
  /** Returns the number of requests counted in the window. */
  count(window: string): number;
  /** Returns the number this process saw last, a lower bound. Reads the disk only the first time. */
  countedBefore(window: string): number;
  /** Counts one more and returns the new number. */
  add(window: string): number;
}

export interface RateWindowOptions {
  clock: Clock;
  counter: WindowCounter;
  /** The share of the window, 0 to 1, that is left for others. */
  reserve: number;
  /** The longest wait for a new window, in ms; a longer one fails with RATE_LIMITED. */
  maxWaitMs: number;
  onWait?: ((wait: { ms: number; error: Error }) => void) | undefined;
}

/** The state of the window, for estimates. */
export interface RateReading {
  limit: number;
  /** Requests that may still be sent in this window, without the reserve. */
  free: number;
  resetAt: number | undefined;
}

/** The reset is a time of another machine: a little late is better than a little early. */
const MARGIN_MS = 100;
/** The margin after the service has reset later than announced. */
const LATE_MARGIN_MS = 1_000;
/** Resets closer together than this are the same. */
const SAME_RESET_MS = 1_000;
/** The documented window is 15 minutes: a longer wait is checked with one request first. */
const USUAL_WINDOW_MS = 15 * 60_000;
/** How long requests without a response may delay a new window. */
const SILENT_MS = 2_000;
const POLL_MS = 25;

/**
 * Delays requests so that they stay within the service's rate window (API document, Limits), for all processes on this machine
 * together: each request is counted before it is sent, and not sent if the window is used up. The first request is sent alone,
 * because only its response shows the limit. Without rate-limit headers, requests are never delayed.
 */
export class RateWindow {
  readonly #options: RateWindowOptions;
  #pace: { reserve: number; maxWaitMs: number };
  #unlimited = false;
  #probe: Promise<void> | undefined;
  #probed: (() => void) | undefined;
  /** The reset in the last response to this process. */
  #confirmedReset = Number.NEGATIVE_INFINITY;
  #pause: Promise<void> | undefined;
  #margin = MARGIN_MS;

  constructor(options: RateWindowOptions) {
    this.#options = options;
    this.#pace = options;
  }

  /**
   * Runs `work` with at least this reserve and this longest wait. A longest wait of 0 (--no-wait) stays 0.
   */
  async sparing<T>(pace: { reserve: number; maxWaitMs: number }, work: () => Promise<T>): Promise<T> {
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

  /** Returns the state of the current window; undefined before the first response and without rate-limit headers. */
  reading(): RateReading | undefined {
    const standing = this.#standing();
    if (standing === undefined) return undefined;
    const used = this.#options.counter.count(nameOf(standing.window)) + standing.foreign;
    return {
      limit: standing.limit,
      free: Math.max(0, this.#spendable(standing) - used),
      resetAt: standing.resetAt,
    };
  }

  /**
   * Counts one request and resolves when it may be sent. Returns the window it was counted in, for `observe`.
   * @throws ServiceError RATE_LIMITED if that would take longer than the longest wait.
   */
  async acquire(signal?: AbortSignal): Promise<CountedRequest | undefined> {
    const { clock } = this.#options;
    let silentSince: number | undefined;
    while (!this.#unlimited) {
      signal?.throwIfAborted();
      const standing = this.#standing();
      if (standing === undefined || this.#needsProbe(standing)) {
        if (this.#probe === undefined) return this.#startProbe(standing !== undefined);
        await this.#probe;
        continue;
      }
      const counted = { window: standing.window, sentAt: clock.now(), isCheck: false };
      if (this.#take(standing)) return counted;
      if (standing.resetAt !== undefined) await this.#waitFor(standing.resetAt, signal);
      else {
        silentSince ??= clock.now();
        if (clock.now() - silentSince > SILENT_MS) return counted;
        await clock.sleep(POLL_MS, signal);
      }
    }
    return undefined;
  }

  /** Counts one request if the window has room for it. */
  #take(standing: RateState): boolean {
    const { counter } = this.#options;
    const name = nameOf(standing.window);
    const spendable = this.#spendable(standing) - standing.foreign;
    // If another process has used up the window since, one request is counted that is not sent.
    return counter.countedBefore(name) < spendable && counter.add(name) <= spendable;
  }

  /** Records the response to a counted request; `rate` is undefined without a response. */
  observe(counted: CountedRequest | undefined, rate: RateLimit | undefined, refused = false): void {
    this.#endProbe();
    if (rate === undefined) return;
    const standing = this.#standing();
    const { limit, remaining, resetAt } = rate;
    if (limit === undefined || remaining === undefined || !this.#isUsable(resetAt)) {
      this.#unlimited = standing === undefined;
      return;
    }
    this.#unlimited = false;
    this.#confirmedReset = resetAt;
    if (counted?.isCheck && (standing === undefined || counted.sentAt >= standing.writtenAt)) {
      const known = { window: counted.window, limit, resetAt: undefined, foreign: 0 };
      this.#note(known, limit, remaining, resetAt);
      return;
    }
    const place = placeOf(resetAt, standing, counted);
    if (place === 'earlier') {
      // A refusal by the previous window shows that it had not ended yet.
      if (refused) this.#margin = LATE_MARGIN_MS;
      return;
    }
    const window: Window =
      place === 'same' && standing !== undefined ? standing.window : { kind: 'until', resetAt };
    const name = nameOf(window);
    // Sent in one window and received in the next, where it counts.
    if (counted === undefined || nameOf(counted.window) !== name) this.#options.counter.add(name);
    const isKnown = standing !== undefined && nameOf(standing.window) === name;
    this.#note(
      isKnown ? standing : { window, limit, resetAt: undefined, foreign: 0 },
      limit,
      remaining,
      resetAt,
    );
  }

  #note(standing: Omit<RateState, 'writtenAt'>, limit: number, remaining: number, resetAt: number): void {
    const { counter, clock } = this.#options;
    const { window } = standing;
    const name = nameOf(window);
    const used = limit - remaining;
    // The count only grows, so most responses need no disk access.
    const isMore = used - counter.countedBefore(name) > standing.foreign;
    const foreign = isMore ? Math.max(standing.foreign, used - counter.count(name)) : standing.foreign;
    if (standing.resetAt === resetAt && standing.limit === limit && standing.foreign === foreign) return;
    counter.write({ window, limit, resetAt, foreign, writtenAt: clock.now() });
  }

  /** Returns true before a long wait or a refusal, unless a response to this process has shown this reset. */
  #needsProbe({ window, limit, resetAt, foreign }: RateState): boolean {
    if (resetAt === undefined || Math.abs(resetAt - this.#confirmedReset) < SAME_RESET_MS) return false;
    const ms = resetAt - this.#options.clock.now();
    if (ms <= Math.min(this.#pace.maxWaitMs, USUAL_WINDOW_MS)) return false;
    const spendable = this.#spendable({ limit }) - foreign;
    return this.#options.counter.count(nameOf(window)) >= spendable;
  }

  #isUsable(resetAt: number | undefined): resetAt is number {
    return resetAt !== undefined && isPlausibleReset(resetAt, this.#options.clock.now() - SAME_RESET_MS);
  }

  /** Returns the known state; undefined if it was written in the future, because the clock was set back. */
  #standing(): RateState | undefined {
    const last = this.#options.counter.read();
    const now = this.#options.clock.now();
    if (last === undefined || last.writtenAt > now + SAME_RESET_MS) return undefined;
    if (last.resetAt === undefined || now < last.resetAt + this.#margin) return last;
    return { ...last, window: { kind: 'after', resetAt: last.resetAt }, resetAt: undefined, foreign: 0 };
  }

  #spendable({ limit }: Pick<RateState, 'limit'>): number {
    return Math.max(1, Math.floor(limit * (1 - this.#pace.reserve)));
  }

  /**
   * A first probe joins the window its reply shows, which other processes may have found in the meantime: with a count of its
   * own it would not see what they have in flight.
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
    if (ms > maxWaitMs + this.#margin) throw usedUp(resetAt);
    if (this.#pause === undefined) {
      onWait?.({ ms, error: usedUp(resetAt) });
      this.#pause = clock.sleep(ms, signal).finally(() => {
        this.#pause = undefined;
      });
    }
    // If the signal of another request ended the pause, this one checks again.
    await this.#pause.catch(() => signal?.throwIfAborted());
  }
}

/**
 * Returns whether a response with this reset belongs to the known window, the previous one, or a new one. A request sent after
 * the window was recorded can't belong to the previous one: then the record was wrong.
 */
function placeOf(
  resetAt: number,
  standing: RateState | undefined,
  counted: CountedRequest | undefined,
): 'earlier' | 'same' | 'next' {
  if (standing === undefined) return 'next';
  const { window } = standing;
  if (standing.resetAt === undefined)
    return window.kind !== 'after' || resetAt > window.resetAt ? 'same' : 'earlier';
  if (resetAt <= standing.resetAt - SAME_RESET_MS)
    return counted !== undefined && counted.sentAt > standing.writtenAt ? 'next' : 'earlier';
  return resetAt >= standing.resetAt + SAME_RESET_MS ? 'next' : 'same';
}

function usedUp(resetAt: number): ServiceError {
  return new ServiceError('RATE_LIMITED', 'The rate limit of this key is reached.', {
    status: 429,
    resetAt,
  });
}
