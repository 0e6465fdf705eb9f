/** Maximum number of rows in progress. */
export const CONCURRENCY = 16;
/** How long a run waits for an unavailable service before it stops, in ms. */
export const OUTAGE_TIMEOUT_MS = 10 * 60_000;
/** Maximum age of a rehearsal's plan, in ms. */
export const PLAN_AGE_MS = 24 * 60 * 60_000;
