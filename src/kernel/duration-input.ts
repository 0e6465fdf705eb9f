import { parseDuration, parseRate } from './duration.ts';
import { UsageError } from './errors.ts';

/**
 * A length of time that a user gave, in ms; `name` says what for.
 * @throws UsageError when it is none, or shorter than `least` ms.
 */
export function readDuration(text: string, name = '', least = 0): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= least) return ms;
  const why = ms === undefined ? 'is not a length of time' : 'is too short';
  throw new UsageError(`${name} "${text}" ${why}.`.trimStart(), {
    hint: 'Write it like 90s, 15m, 2h or 7d.',
  });
}

/** Requests per window that a user gave. @throws UsageError when they are none. */
export function readRate(text: string): { requests: number; seconds: number } {
  const rate = parseRate(text);
  if (rate !== undefined) return rate;
  throw new UsageError(`The rate limit "${text}" is not of the form N/TIME.`, {
    hint: 'Write it like 10000/15m or 40/3s.',
  });
}
