import { type BackOff, backOff } from '../kernel/async/back-off.ts';
import type { Clock } from '../kernel/clock.ts';
import { BadResponseError, NetworkError, ServiceError } from '../kernel/errors.ts';
import { isRateLimited } from '../kernel/request-failures.ts';
import { type HttpRequest, isRead, type SendRequest } from './http.ts';
import { isPlausibleReset } from './rate-headers.ts';

export interface RetryOptions {
  clock: Clock;
  /** Returns a random number from 0 to 1, for jitter. */
  random: () => number;
  /** The maximum number of attempts after the first one. */
  retries: number;
  /** The longest wait for a rate window, in ms; a longer one fails with RATE_LIMITED. */
  maxWaitMs: number;
  onWait?: ((wait: { ms: number; error: Error }) => void) | undefined;
}

const BASE_MS = 250;
const RETRY_DELAY: BackOff = { firstMs: BASE_MS, longestMs: 8_000 };
/** Added to the reset, which is a time of another machine's clock. A little late is better than a little early. */
const RESET_MARGIN_MS = 250;

/**
 * Adds the retry policy. Reads are retried after any temporary failure; writes only if the service certainly did nothing, because
 * the request was never sent or was refused with 429. once/ handles the other cases.
 */
export function withRetries(send: SendRequest, options: RetryOptions): SendRequest {
  return async (request) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(request);
      } catch (error) {
        const ms = waitBeforeRetry(request, error, attempt, options);
        if (ms === undefined || !(error instanceof Error)) throw error;
        options.onWait?.({ ms, error });
        request.onNothingDone?.();
        await options.clock.sleep(ms, request.signal);
      }
    }
  };
}

/** Returns how long to wait before the next attempt, in ms, or undefined for no further attempt. */
function waitBeforeRetry(
  request: HttpRequest,
  error: unknown,
  attempt: number,
  options: RetryOptions,
): number | undefined {
  if (attempt > Math.min(options.retries, maxRetriesFor(error))) return undefined;
  const delay = backOff(attempt - 1, RETRY_DELAY) * (0.5 + options.random() / 2);
  if (isRateLimited(error)) return rateWait(error, delay, options);
  return isTemporary(error, isRead(request.method))
    ? Math.max(delay, requestedWait(error, options))
    : undefined;
}

/** Returns how long a gateway asks to wait (Retry-After), in ms; 0 if that is longer than esign waits. */
function requestedWait(error: unknown, { maxWaitMs }: RetryOptions): number {
  const isResponse = error instanceof ServiceError || error instanceof BadResponseError;
  const ms = (isResponse ? error.retryAfterMs : undefined) ?? 0;
  return ms > maxWaitMs ? 0 : ms;
}

/**
 * Returns the number of retries for an error. A timeout has already taken long, and a refused connection is rarely accepted a few
 * seconds later.
 */
function maxRetriesFor(error: unknown): number {
  if (!(error instanceof NetworkError)) return Number.POSITIVE_INFINITY;
  if (error.code === 'TIMEOUT') return 2;
  return error.maybeReceived ? Number.POSITIVE_INFINITY : 3;
}

function rateWait(error: ServiceError, delay: number, options: RetryOptions): number | undefined {
  const now = options.clock.now();
  const { resetAt } = error;
  const hasReset = resetAt !== undefined && isPlausibleReset(resetAt, now);
  const untilReset = hasReset ? resetAt - now + RESET_MARGIN_MS : delay;
  // Retry-After is about this refusal; the window may have room.
  const ms = Math.max(error.retryAfterMs ?? untilReset, BASE_MS);
  return ms > options.maxWaitMs ? undefined : ms;
}

function isTemporary(error: unknown, reads: boolean): boolean {
  if (error instanceof NetworkError) return !error.isLasting && (reads || !error.maybeReceived);
  if (!reads) return false;
  return (error instanceof ServiceError || error instanceof BadResponseError) && error.status >= 500;
}
