/** Rows in progress at the same time. */
export const CONCURRENCY = 16;
/** How long a run waits for an unavailable service before it stops. */
export const OUTAGE_PATIENCE_MS = 10 * 60_000;
/** The oldest plan of a rehearsal that is accepted. */
export const PLAN_AGE_MS = 24 * 60 * 60_000;
