const DAY_MS = 86_400_000;

/** How far back a report goes. */
export const REPORT_MS = 90 * DAY_MS;

/** Turns that finished longer ago don't count towards the usual time. */
export const HISTORY_MS = 180 * DAY_MS;
/** With fewer finished turns, the next broader group decides. */
export const LEAST_SAMPLES = 20;
/** The usual time of an account with less history. */
export const DEFAULT_USUAL_MS = 7 * DAY_MS;
/** The percentile of finished turns after which an open turn is late. */
export const DEFAULT_PERCENTILE = 85;

/** What a summary lists: envelopes that expire soon, recent declines, and envelopes that nobody has opened or signed for long. */
export const SOON_MS = 3 * DAY_MS;
export const DECLINED_WITHIN_MS = 30 * DAY_MS;
export const UNOPENED_AFTER_MS = 3 * DAY_MS;
export const FORGOTTEN_AFTER_MS = 7 * DAY_MS;
