/** Maximum number of concurrent requests. */
export const CONCURRENCY = 16;
/** How long a run waits for an unavailable service before it stops, in ms. */
export const OUTAGE_TIMEOUT_MS = 10 * 60_000;
/** A run stops if its first rows, this many, all fail with the same code. */
export const FAILURES_ALIKE = 20;
