export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

/**
 * Parses `90s`, `15m`, `2h`, `7d`, or `1h30m` and returns ms. Returns undefined if it is invalid: a number without a unit, and `1M`, which
 * means a month elsewhere.
 */
export function parseDuration(text: string): number | undefined {
  if (/\d\s*M(?![A-Za-z])/.test(text)) return undefined;
  const trimmed = text
    .trim()
    .toLowerCase()
    .replaceAll(
      /(\d)\s*(second|minute|hour|day|week)s?(?![a-z])\s*/g,
      (_, digit: string, unit: string) => `${digit}${unit.charAt(0)}`,
    );
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d|w))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  }
  return Math.round(total);
}

/** Formats a duration as flags take it, in the largest unit that divides it: `30s`, `15m`, `24h`, `3d`. */
export function durationText(ms: number): string {
  if (ms === DAY_MS) return '24h';
  const unit = ['d', 'h', 'm'].find((one) => ms % (UNITS[one] ?? 1) === 0) ?? 's';
  return `${ms / (UNITS[unit] ?? 1)}${unit}`;
}

/** Units, largest first, each with its length and the duration from which it is used, in ms. */
const WORDS: readonly (readonly [string, number, number])[] = [
  ['year', 365.25 * DAY_MS, 700 * DAY_MS],
  ['month', 30.44 * DAY_MS, 60 * DAY_MS],
  ['day', DAY_MS, 47.5 * 3_600_000],
  ['hour', 3_600_000, 3_600_000],
  ['minute', 60_000, 60_000],
];

/** Formats a duration as one rounded unit: `3 months`, `2 days`, `30 hours`, `5 minutes`. */
export function durationInWords(ms: number): string {
  for (const [unit, length, from] of WORDS) {
    if (ms >= from) return counted(Math.round(ms / length), unit);
  }
  return counted(Math.round(ms / 1_000), 'second');
}

/** Formats a count with its noun: `1 signer`, `2 signers`. */
export function counted(amount: number, noun: string): string {
  return `${grouped(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}

/** Formats a number of people: `1 person`, `2 people`. */
export function countedPeople(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'person' : 'people'}`;
}

/** Formats a whole number with commas between thousands. Intl would take several milliseconds on first use. */
export function grouped(amount: number): string {
  return String(amount).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Formats a list: `a`, `a and b`, `a, b, and c`. */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  if (words.length < 3) return words.join(' and ');
  return `${words.slice(0, -1).join(', ')}, and ${last}`;
}

/** Formats a duration: `14s`, `2:05 min`, `1:02 h`. */
export function clockText(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  if (whole < 60) return `${whole}s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  return `${Math.floor(whole / 3_600)}:${two(Math.floor((whole % 3_600) / 60))} h`;
}
