/** Formats a time as `2026-01-02 10:11:12 UTC`, and null as a dash. Text that is not a time is returned unchanged. */
export function inUtc(time: string | null): string {
  const seconds = toSeconds(time);
  return seconds === undefined ? (time ?? '–') : `${seconds} UTC`;
}

/** Formats a time as `2026-01-02 10:11:12`, for columns with UTC in their heading. */
function toSeconds(time: string | null): string | undefined {
  if (time === null || Number.isNaN(Date.parse(time))) return undefined;
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ');
}

const LONG_DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** Formats a day as `2 January 2026`, in UTC. */
export function longDay(time: string): string {
  return LONG_DAY.format(new Date(time));
}

/** Formats a day as `2026-01-02`. */
export function dayOf(time: string): string {
  return toSeconds(time)?.slice(0, 10) ?? time;
}
