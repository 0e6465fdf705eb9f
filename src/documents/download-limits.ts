import { DAY_MS } from '../kernel/duration.ts';

/** How many files are downloaded at the same time. */
export const CONCURRENT_DOWNLOADS = 32;
/** The total time that a run waits for files that don't exist yet. */
export const DEFAULT_WAIT_MS = 30_000;
/** How often a run checks for these files. */
export const LOOKUP_INTERVAL_MS = 1_000;
/** How often a run reads an envelope that is not completed yet. */
export const SIGNING_INTERVAL_MS = 5_000;
/** How long a link is valid; `max` is the limit of S3. */
export const LINK_DURATION_MS = { default: 15 * 60_000, max: 7 * DAY_MS } as const;
