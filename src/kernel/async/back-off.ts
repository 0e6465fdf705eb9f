/** The first and the longest of a series of growing delays, in ms. */
export interface BackOff {
  firstMs: number;
  longestMs: number;
}

/** Returns the delay after `failures` retries (from 0), in ms. It doubles each time, up to the longest. */
export function backOff(failures: number, { firstMs, longestMs }: BackOff): number {
  return Math.min(firstMs * 2 ** failures, longestMs);
}
