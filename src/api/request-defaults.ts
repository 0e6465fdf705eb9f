/** The time limit for connecting, for the first byte, and for the whole response, each. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Envelopes that a command reads at the same time. */
export const READ_CONCURRENCY = 8;
/** How often a request that may be sent again is repeated. */
export const MAX_RETRIES = 5;
/** How long a request waits for the rate limit to reset. */
export const MAX_RATE_WAIT_MS = 60_000;
