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
  const trimmed = text.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1_000);
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d|w))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  }
  return Math.round(total);
}

/** A length of time in words: `2 days`, `5 minutes`, `3 seconds`. One unit, rounded down. */
export function durationInWords(ms: number): string {
  const [amount, unit] =
    ms >= 86_400_000
      ? [ms / 86_400_000, 'day']
      : ms >= 3_600_000
        ? [ms / 3_600_000, 'hour']
        : ms >= 60_000
          ? [ms / 60_000, 'minute']
          : [ms / 1_000, 'second'];
  return counted(Math.floor(amount), unit);
}

/** `1 signer`, `2 signers`. */
export function counted(amount: number, noun: string): string {
  return `${amount.toLocaleString('en-US')} ${noun}${amount === 1 ? '' : 's'}`;
}
