import { DAY_MS } from '../kernel/duration.ts';

/** How far back a report goes by default, in ms. */
export const DEFAULT_PERIOD_MS = 90 * DAY_MS;

/** Turns that finished longer ago than this (ms) don't count toward the usual time. */
export const HISTORY_MS = 180 * DAY_MS;
/** The minimum number of finished turns. With fewer, the next broader group is used. */
export const MIN_SAMPLES = 20;
/** The usual time for an account with too little history, in ms. */
export const DEFAULT_USUAL_MS = 7 * DAY_MS;
/** The percentile of finished turns after which an open turn is late. */
export const USUAL_PERCENTILE = 85;

/** What needs attention, in ms: envelopes that expire soon, recent declines, and forgotten drafts. */
export const SOON_MS = 3 * DAY_MS;
export const DECLINED_WITHIN_MS = 30 * DAY_MS;
export const FORGOTTEN_AFTER_MS = 7 * DAY_MS;
/** The maximum number of envelopes that are named for each kind. */
export const MAX_NAMED = 5;
