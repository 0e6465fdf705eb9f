/** Limits of a growing delay, in ms. */
export interface BackOff {
  firstMs: number;
  longestMs: number;
}

/** Returns the delay after `failures` (from 0) retries, in ms: doubled each time, up to the longest. */
export function backOff(failures: number, { firstMs, longestMs }: BackOff): number {
  return Math.min(firstMs * 2 ** failures, longestMs);
}
