/** Time limit for connecting, for the first byte, and for a whole response. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Share of the rate limit that long work leaves for the customer's other systems. */
export const RESERVE = 0.1;
/** Envelopes that a command reads at the same time. */
export const READS_AT_ONCE = 8;
