/** Formats a time as `2026-01-02 10:11:12 UTC`, and null as a dash. */
export function formatTime(time: string | null): string {
  return time === null ? '–' : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const LONG_DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** Formats a day as `2 January 2026`, in UTC. */
export function formatDay(time: string): string {
  return LONG_DAY.format(new Date(time));
}
