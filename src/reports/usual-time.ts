import { DAY_MS } from '../kernel/duration.ts';

/*
 * When an open turn of a signer is late: when it takes longer than most turns of the account did.
 */

/** Turns that finished longer ago than this (ms) don't count toward the usual time. */
export const HISTORY_MS = 180 * DAY_MS;
/** The minimum number of finished turns. With fewer, the next broader group is used. */
export const MIN_SAMPLES = 20;
/** The usual time for an account with too little history, in ms. */
export const DEFAULT_USUAL_MS = 7 * DAY_MS;
/** The percentile of finished turns after which an open turn is late. */
export const USUAL_PERCENTILE = 85;
