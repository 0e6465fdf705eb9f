/** `2026-01-02 10:11:12 UTC`; a dash for what has not happened. Text that is no time is given back as it is. */
export function inUtc(time: string | null): string {
  const seconds = toSeconds(time);
  return seconds === undefined ? (time ?? '–') : `${seconds} UTC`;
}

/** `2026-01-02 10:11:12`, for columns that say UTC themselves. */
export function toSeconds(time: string | null): string | undefined {
  if (time === null || Number.isNaN(Date.parse(time))) return undefined;
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ');
}

/** `2026-01-02`. */
export function dayOf(time: string): string {
  return toSeconds(time)?.slice(0, 10) ?? time;
}
