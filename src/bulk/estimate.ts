import type { RateReading } from '../api/rate/rate-window.ts';

/** The API document's window: requests per 15 minutes. */
const WINDOW_MS = 15 * 60_000;
/** A window in which no more requests than this were made has just begun. */
const JUST_BEGUN = 10;

/**
 * How long a number of requests takes by the rate window alone, in ms; undefined where the service shows no window.
 * `reserve`: the part of each window that is left for others. No reply shows how long a window is: the document's length
 * is assumed, unless this one has just begun.
 */
export function timeByWindow(
  requests: number,
  reading: RateReading | undefined,
  reserve: number,
  now: number,
): number | undefined {
  if (reading === undefined) return undefined;
  if (requests <= reading.free) return 0;
  const untilReset = Math.max(0, (reading.resetAt ?? now) - now);
  const perWindow = Math.max(1, Math.floor(reading.limit * (1 - reserve)));
  const hasJustBegun = reading.free >= perWindow - JUST_BEGUN;
  const further = Math.ceil((requests - reading.free) / perWindow) - 1;
  return untilReset + further * (hasJustBegun ? Math.min(untilReset, WINDOW_MS) : WINDOW_MS);
}

/** Requests that a number of rows needs when nothing goes wrong. */
export function requestsFor(rows: number, mode: string): number {
  return mode === 'two-step' ? rows * 2 : rows;
}
