import { BadResponseError, NetworkError, NoApiError, ServiceError, UnknownOutcomeError } from './errors.ts';

/* What the failure of a request means. */

/** Returns true if the envelope or template does not exist (API document: NOT_FOUND, 404). */
export function isNotFound(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'NOT_FOUND';
}

/** Waits for a read. Returns undefined if the envelope or template does not exist. */
export function undefinedIfNotFound<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** Returns true if the envelope's status doesn't allow the write (API document: INVALID_STATE, 400). */
export function isRefusedByState(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'INVALID_STATE';
}

/** An error that may leave the outcome of a write unknown. */
type Ambiguous = NetworkError | BadResponseError | ServiceError | UnknownOutcomeError;

/** Returns true if the service may have processed a write, although no readable response confirmed it. */
export function isAmbiguous(error: unknown): error is Ambiguous {
  if (error instanceof NetworkError) return error.maybeReceived;
  if (error instanceof NoApiError) return false;
  if (error instanceof BadResponseError || error instanceof UnknownOutcomeError) return true;
  if (!(error instanceof ServiceError)) return false;
  // An error in a response that reports a success proves neither.
  return error.status < 400 || error.status >= 500 || GAVE_UP_STATUSES.has(error.status);
}

/**
 * Statuses after which a request may still have been processed: a proxy or the service stopped waiting (408, 499) or deferred the
 * request (425).
 */
const GAVE_UP_STATUSES: ReadonlySet<number> = new Set([408, 425, 499]);

/** Returns true if the service was unavailable, so that waiting may help. */
export function isOutage(error: unknown): error is Ambiguous {
  return error instanceof NetworkError || isAmbiguous(error);
}

/** Returns true if the key has reached its rate limit. */
export function isRateLimited(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 429;
}
