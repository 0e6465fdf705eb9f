import { DAY_MS } from '../kernel/duration.ts';

/** How far back a report goes by default, in ms. */
export const DEFAULT_PERIOD_MS = 90 * DAY_MS;

/** What needs attention, in ms: envelopes that expire soon, recent declines, and forgotten drafts. */
export const SOON_MS = 3 * DAY_MS;
export const DECLINED_WITHIN_MS = 30 * DAY_MS;
export const FORGOTTEN_AFTER_MS = 7 * DAY_MS;
/** The maximum number of envelopes that are named for each kind. */
export const MAX_NAMED = 5;
