const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `90s`, `15m`, `2h`, `7d`, `1h30m` as milliseconds; a bare number counts seconds. Undefined when it is none of these. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text
    .trim()
    .toLowerCase()
    .replaceAll(
      /(\d)\s*(second|minute|hour|day|week)s?(?![a-z])\s*/g,
      (_, digit: string, unit: string) => `${digit}${unit.charAt(0)}`,
    );
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1_000);
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d|w))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  }
  return Math.round(total);
}

/** `10000/15m`, `40/3s` as requests per window; undefined when it is none. */
export function parseRate(text: string): { requests: number; seconds: number } | undefined {
  const [count = '', window = ''] = text.split('/');
  const ms = parseDuration(window);
  const requests = Number(count);
  if (!/^\d+$/.test(count) || requests === 0 || ms === undefined || ms === 0) return undefined;
  return { requests, seconds: ms / 1_000 };
}

/** From the largest: how long a unit is, and from how long on it is used. In ms. */
const WORDS: readonly (readonly [string, number, number])[] = [
  ['year', 365.25 * 86_400_000, 700 * 86_400_000],
  ['month', 30.44 * 86_400_000, 60 * 86_400_000],
  ['day', 86_400_000, 47.5 * 3_600_000],
  ['hour', 3_600_000, 3_600_000],
  ['minute', 60_000, 60_000],
];

/** A length of time in words: `3 months`, `2 days`, `30 hours`, `5 minutes`. One unit, rounded. */
export function durationInWords(ms: number): string {
  for (const [unit, length, from] of WORDS) {
    if (ms >= from) return counted(Math.round(ms / length), unit);
  }
  return counted(Math.round(ms / 1_000), 'second');
}

/** `1 signer`, `2 signers`. */
export function counted(amount: number, noun: string): string {
  return `${grouped(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}

/** A whole number with commas between thousands. Intl would cost milliseconds at its first use. */
export function grouped(amount: number): string {
  return String(amount).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}

/** `14s`, `2:05 min`, `1:02 h`. */
export function clockText(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  if (whole < 60) return `${whole}s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  return `${Math.floor(whole / 3_600)}:${two(Math.floor((whole % 3_600) / 60))} h`;
}
