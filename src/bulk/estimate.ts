import { type RateReading, RESERVE } from '../api/rate-window.ts';
import { LIMITS } from '../kernel/vocabulary.ts';

/** The length of the rate window according to the API document, in ms. */
const WINDOW_MS = LIMITS.rate.seconds * 1_000;

/**
 * Returns how long a number of requests takes because of the rate window alone, in ms. Returns undefined if the service shows no
 * window. No response shows the length of a window, so the document's length is assumed.
 */
export function timeForRequests(
  requests: number,
  reading: RateReading | undefined,
  now: number,
): number | undefined {
  if (reading === undefined) return undefined;
  if (requests <= reading.free) return 0;
  const untilReset = Math.max(0, reading.resetAt - now);
  const perWindow = Math.max(1, Math.floor(reading.limit * (1 - RESERVE)));
  const further = Math.ceil((requests - reading.free) / perWindow) - 1;
  return untilReset + further * WINDOW_MS;
}

/** Returns the number of requests for a number of rows if nothing goes wrong. */
export function requestsForRows(rows: number, mode: string): number {
  return mode === 'two-step' ? rows * 2 : rows;
}
