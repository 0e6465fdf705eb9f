const DAY_S = 86_400;
/** 9999-12-31, the last day that spreadsheets support. */
const LAST_DAY = 2_958_465;

/** Returns a date or time in ISO 8601, or undefined if the number is not one. */
export function timeText(
  serial: number,
  kind: 'date' | 'time' | 'datetime' | 'elapsed',
  is1904: boolean,
): string | undefined {
  if (!(serial >= 0 && serial < LAST_DAY + 1)) return undefined;
  const seconds = Math.round(serial * DAY_S);
  if (kind === 'elapsed') return clockText(seconds);
  if (kind === 'time') return clockText(seconds % DAY_S);
  if (kind === 'date') return dateText(Math.floor(serial), is1904);
  return `${dateText(Math.floor(seconds / DAY_S), is1904)}T${clockText(seconds % DAY_S)}`;
}

function dateText(day: number, is1904: boolean): string {
  if (is1904) return isoDate(Date.UTC(1904, 0, 1 + day));
  // Spreadsheets have a 29 February 1900, a bug inherited from Lotus 1-2-3.
  if (day === 60) return '1900-02-29';
  return isoDate(Date.UTC(1899, 11, (day < 60 ? 31 : 30) + day));
}

function isoDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function clockText(seconds: number): string {
  return [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((part) => String(Math.floor(part)).padStart(2, '0'))
    .join(':');
}
