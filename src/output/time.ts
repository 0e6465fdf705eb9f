import { timeOf } from '../kernel/clock.ts';
import { durationInWords } from '../kernel/duration.ts';

/** Formats a time relative to now: `3 days ago`, `in 27 days`, `just now`. Returns an invalid time unchanged. */
export function relativeTime(iso: string | null | undefined, now: number): string {
  if (!iso) return '';
  const at = timeOf(iso);
  if (Number.isNaN(at)) return iso;
  const distance = at - now;
  if (Math.abs(distance) < 10_000) return 'just now';
  return distance < 0 ? `${durationInWords(-distance)} ago` : `in ${durationInWords(distance)}`;
}

/** Formats a time exactly: `2026-11-21 09:05:12 UTC`. */
export function exactTime(iso: string): string {
  const at = timeOf(iso);
  if (Number.isNaN(at)) return iso;
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Formats the local time of day: `09:05:12`. */
export function localTime(iso: string): string {
  return new Date(iso).toLocaleTimeString('en-GB');
}
