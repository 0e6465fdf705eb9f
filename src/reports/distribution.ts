import { DAY_MS } from '../kernel/duration.ts';

const HOUR_MS = 3_600_000;

/** Upper bounds in ms. The last bucket has none. */
const BOUNDS: readonly (readonly [string, number])[] = [
  ['under 1 hour', HOUR_MS],
  ['1–8 hours', 8 * HOUR_MS],
  ['8–24 hours', DAY_MS],
  ['1–2 days', 2 * DAY_MS],
  ['2–4 days', 4 * DAY_MS],
  ['4–7 days', 7 * DAY_MS],
  ['1–2 weeks', 14 * DAY_MS],
  ['2–4 weeks', 28 * DAY_MS],
  ['over 4 weeks', Number.POSITIVE_INFINITY],
];

/** Counts durations (ms) in buckets. */
export function distributionOf(durations: Iterable<number>): { label: string; count: number }[] {
  const buckets = BOUNDS.map(([label]) => ({ label, count: 0 }));
  for (const ms of durations) {
    const bucket = buckets[BOUNDS.findIndex(([, below]) => ms < below)];
    if (bucket) bucket.count++;
  }
  return buckets;
}
