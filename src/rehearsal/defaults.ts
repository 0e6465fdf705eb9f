/** How many days the sandbox's clock runs ahead. */
export const DEFAULT_DAYS = 30;
/** The share of turns that end in a decline, for an account with less history. */
export const DEFAULT_DECLINE_RATE = 0.02;
/** Random numbers without --random-seed: the same command shows the same result. */
export const DEFAULT_SEED = 1;
/** The service's rate limit (API document, Limits, Enterprise tier) where no response has shown another one. */
export const DEFAULT_RATE = { requests: 10_000, seconds: 900 } as const;
