import { DAY_MS } from '../kernel/duration.ts';
import { skewOf } from './service-clock.ts';

/** The rate-limit headers of a response (API document, Limits). */
export interface RateLimit {
  limit: number | undefined;
  remaining: number | undefined;
  /** Milliseconds since the epoch. */
  resetAt: number | undefined;
  /** Milliseconds to wait, from Retry-After. */
  retryAfterMs: number | undefined;
}

/** The longest plausible time until a reset. Resets further away are ignored; the documented window is 15 minutes. */
const MAX_WINDOW_MS = DAY_MS;

/** Returns true for a plausible reset: neither in the past nor too far away. */
export function isPlausibleReset(resetAt: number, now: number): boolean {
  return resetAt > now && resetAt < now + MAX_WINDOW_MS;
}

type RateHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads the rate-limit headers, each of which may be missing. The reset may be in seconds or milliseconds. If the service's clock
 * differs, times are converted to the local clock.
 */
export function readRateLimit(headers: RateHeaders, now: number): RateLimit {
  const skew = skewOf(headers, now) ?? 0;
  return {
    limit: numberOf(headers['x-ratelimit-limit']),
    remaining: numberOf(headers['x-ratelimit-remaining']),
    resetAt: readReset(headers['x-ratelimit-reset'], skew),
    retryAfterMs: readRetryAfter(headers['retry-after'], now - skew),
  };
}

function readReset(value: string | string[] | undefined, skew: number): number | undefined {
  const reset = numberOf(value) ?? Number.NaN;
  const at = (reset > 1e11 ? reset : reset * 1_000) + skew;
  // The value is not a number, or out of range for a date.
  return Number.isNaN(new Date(at).valueOf()) ? undefined : at;
}

/** Reads Retry-After, in ms. `theirNow` is the time of the service's clock, to which a date refers. */
function readRetryAfter(value: string | string[] | undefined, theirNow: number): number | undefined {
  const seconds = numberOf(value);
  if (seconds !== undefined) return seconds * 1_000;
  const date = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - theirNow);
}

function numberOf(value: string | string[] | undefined): number | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text.trim())) return undefined;
  return Number(text);
}
