import { type BackOff, backOff } from '../kernel/back-off.ts';
import type { Clock } from '../kernel/clock.ts';
import { accountOf } from '../kernel/digest.ts';
import { BadResponseError, NetworkError, ServiceError } from '../kernel/errors.ts';
import { isRateLimited } from '../kernel/request-failures.ts';
import { createHttp, type HttpOptions, type HttpRequest, isRead, type SendRequest } from './http.ts';
import { MAX_RATE_WAIT_MS, MAX_RETRIES } from './limits.ts';
import { withApiCheck } from './no-api.ts';
import { isPlausibleReset } from './rate-headers.ts';
import { RateWindow } from './rate-window.ts';
import { createResources, type ResourceOptions, type Resources } from './resources.ts';
import { ServiceClock } from './service-clock.ts';
import {
  type OpenGate,
  openGate,
  type PlannedWrite,
  type WriteGate,
  type WritePermit,
} from './write-gate.ts';

export interface ClientOptions extends Omit<HttpOptions, 'window'>, ResourceOptions {
  random?: (() => number) | undefined;
  retries?: number | undefined;
  /** The longest wait for a rate window, in ms. */
  maxWaitMs?: number | undefined;
  /** Delays requests that would exceed the rate window. */
  isPaced?: boolean | undefined;
  /** The share of the rate window, 0 to 1, that is left for others. */
  reserve?: number | undefined;
  onWait?: RetryOptions['onWait'];
  /** Loads the gate that every write passes, at the first write. Without it, all writes are sent. */
  gate?: (() => Promise<OpenGate>) | undefined;
}

/** A client for the service, with a typed method for each of the eight routes in the API document. */
export interface Client extends Resources {
  baseUrl: string;
  /** Names the account of the key at the base URL (`accountOf`). */
  account: string;
  /** The time limit of a request, in ms. */
  timeoutMs: number;
  /** Sends any request, with the retry policy. Writes pass the gate. */
  send: SendRequest;
  writes: () => Promise<WriteGate>;
  /** Checks the writes of a command before the first is sent (`WriteGate.check`). */
  checkWrites: (planned: readonly PlannedWrite[]) => Promise<WritePermit>;
  clock: Clock;
  /** The service's time. */
  serviceClock: ServiceClock;
  /** How long to wait for the response to a write after its signal has aborted, in ms. */
  graceMs: number;
  /** The rate window; undefined if requests are not paced. */
  window: RateWindow | undefined;
}

export function createClient(options: ClientOptions): Client {
  const { baseUrl, clock, graceMs = 0, timeoutMs } = options;
  const account = accountOf(baseUrl, options.apiKey);
  const window = windowFor(options);
  const serviceClock = options.serviceClock ?? new ServiceClock(options.clock);
  const retrying = withRetries(createHttp({ ...options, serviceClock, window }), {
    clock: options.clock,
    random: options.random ?? Math.random,
    retries: options.retries ?? MAX_RETRIES,
    maxWaitMs: options.maxWaitMs ?? MAX_RATE_WAIT_MS,
    onWait: options.onWait,
  });
  const sendNow = withApiCheck(retrying, options.baseUrl);
  let gate: WriteGate | undefined;
  const writes = async () => {
    gate ??= ((await options.gate?.()) ?? openGate)(sendNow, account);
    return gate;
  };
  const send: SendRequest = async (request) =>
    isRead(request.method) ? sendNow(request) : (await writes()).pass(request);
  const checkWrites: Client['checkWrites'] = async (planned) => (await writes()).check(planned);
  const resources = createResources(send, options);
  return {
    baseUrl,
    account,
    timeoutMs,
    ...resources,
    send,
    writes,
    checkWrites,
    clock,
    serviceClock,
    graceMs,
    window,
  };
}

function windowFor(options: ClientOptions): RateWindow | undefined {
  if (!options.isPaced) return undefined;
  return new RateWindow({
    clock: options.clock,
    random: options.random ?? Math.random,
    reserve: options.reserve ?? 0,
    maxWaitMs: options.maxWaitMs ?? MAX_RATE_WAIT_MS,
    onWait: options.onWait,
  });
}

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
