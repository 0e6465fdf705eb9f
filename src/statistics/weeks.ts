import { DAY_MS } from '../kernel/duration.ts';

/** Returns the ISO 8601 week of a time (ms) in UTC, such as `2026-W47`. A week belongs to the year of its Thursday. */
export function weekOf(at: number): string {
  const day = new Date(at).getUTCDay() || 7;
  const thursday = new Date(at + (4 - day) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const days = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / DAY_MS);
  return `${year}-W${String(Math.floor(days / 7) + 1).padStart(2, '0')}`;
}

/** Returns the month of a time (ms) in UTC, such as `2026-11`. */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}
