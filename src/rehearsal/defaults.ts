/** Number of days that the rehearsal simulates. */
export const DEFAULT_DAYS = 30;
/** The share of turns that end in a decline, for an account with too little history. */
export const DEFAULT_DECLINE_RATE = 0.02;
/** The seed without --random-seed. It is fixed, so that the same command shows the same result. */
export const DEFAULT_SEED = 1;
