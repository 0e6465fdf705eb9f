import type { Clock } from '../kernel/clock.ts';
import { BadResponseError, isRateLimited, NetworkError, ServiceError } from '../kernel/errors.ts';
import { type HttpRequest, isRead, type SendRequest } from './http.ts';
import { isPlausibleReset } from './rate/rate-limit.ts';

export interface RetryOptions {
  clock: Clock;
  /** Returns a random number from 0 to 1, for jitter. */
  random: () => number;
  /** The maximum number of attempts after the first one. */
  retries: number;
  /** The longest wait for a rate window, in ms; a longer one fails with RATE_LIMITED. */
  maxWaitMs: number;
  /** Called before each wait. */
  onWait?: ((wait: { ms: number; error: Error }) => void) | undefined;
}

const BASE_MS = 250;
const CAP_MS = 8_000;
/** Added to the reset, which is a time of another machine's clock. A little late is better than a little early. */
const RESET_MARGIN_MS = 250;
/** The number of retries that a run may use, and how many each success adds. The limit keeps retries from making an outage worse. */
const RETRY_BUDGET = 100;
const RETRIES_PER_SUCCESS = 1;

/**
 * Adds the retry policy. Reads are retried after any temporary failure; writes only if the service certainly did nothing, because
 * the request was never sent or was refused with 429. write-outcome.ts handles the other cases.
 */
export function withRetries(send: SendRequest, options: RetryOptions): SendRequest {
  let budget = RETRY_BUDGET;
  return async (request) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await send(request);
        budget = Math.min(RETRY_BUDGET, budget + RETRIES_PER_SUCCESS);
        return response;
      } catch (error) {
        const ms = waitBeforeRetry(request, error, attempt, options);
        if (ms === undefined || budget < 1 || !(error instanceof Error)) throw error;
        budget--;
        options.onWait?.({ ms, error });
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
  const backOff = Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1)) * (0.5 + options.random() / 2);
  if (isRateLimited(error)) return rateWait(error, backOff, options);
  return isTemporary(error, isRead(request.method)) ? backOff : undefined;
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

function rateWait(error: ServiceError, backOff: number, options: RetryOptions): number | undefined {
  const now = options.clock.now();
  const { resetAt } = error;
  const hasReset = resetAt !== undefined && isPlausibleReset(resetAt, now);
  const untilReset = hasReset ? resetAt - now + RESET_MARGIN_MS : backOff;
  const ms = Math.max(untilReset, error.retryAfterMs ?? 0, BASE_MS);
  return ms > options.maxWaitMs ? undefined : ms;
}

function isTemporary(error: unknown, reads: boolean): boolean {
  if (error instanceof NetworkError) return !error.isLasting && (reads || !error.maybeReceived);
  if (!reads) return false;
  return (error instanceof ServiceError || error instanceof BadResponseError) && error.status >= 500;
}
