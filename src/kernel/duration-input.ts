import { parseDuration, parseRate } from './duration.ts';
import { UsageError } from './errors.ts';

/**
 * Parses a duration from user input and returns it in ms. `name` is used in the error.
 * @throws UsageError if it is invalid or shorter than `least` ms.
 */
export function readDuration(text: string, name = '', least = 0): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= least) return ms;
  const why = ms === undefined ? 'is not a duration' : 'is too short';
  throw new UsageError(`${name} "${text}" ${why}.`.trimStart(), {
    hint: 'Examples: 90s, 15m, 2h, 7d',
  });
}

/** Parses a number of requests per window from user input. @throws UsageError if it is invalid. */
export function readRate(text: string): { requests: number; seconds: number } {
  const rate = parseRate(text);
  if (rate !== undefined) return rate;
  throw new UsageError(`The rate limit "${text}" must have the form N/TIME.`, {
    hint: 'Examples: 10000/15m, 40/3s',
  });
}
