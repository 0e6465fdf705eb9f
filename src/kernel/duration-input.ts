import { parseDuration } from './duration.ts';
import { UsageError } from './errors.ts';

/**
 * Parses a duration from user input and returns it in ms. `name` is used in the error.
 * @throws UsageError if it is invalid or shorter than `least` ms.
 */
export function readDuration(text: string, name = '', least = 0): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= least) return ms;
  const why = ms === undefined ? 'is not a duration' : 'is too short';
  throw new UsageError(`${name} "${text}" ${why}.`.trimStart(), { hint: durationHint(text) });
}

/** Returns how to write a duration: the value that was probably meant, or the examples. */
export function durationHint(text: string, examples = 'Examples: 90s, 15m, 2h, 7d'): string {
  const number = text.trim();
  if (/^\d+(\.\d+)?$/.test(number))
    return `Add a unit, such as ${number}s, ${number}m, ${number}h, or ${number}d.`;
  const months = /^(\d+)\s*(?:M|mo|months?)$/.exec(number)?.[1];
  if (months !== undefined)
    return `For months, use days: ${Number(months) * 30}d. For minutes, use ${months}m.`;
  return examples;
}

/** Parses a number of requests per window, such as `10000/15m`, from user input. @throws UsageError if it is invalid. */
export function readRate(text: string): { requests: number; seconds: number } {
  const [count = '', window = ''] = text.split('/');
  const requests = /^\d+$/.test(count) ? Number(count) : 0;
  const ms = parseDuration(window) ?? 0;
  if (requests > 0 && ms > 0) return { requests, seconds: ms / 1_000 };
  throw new UsageError(`The rate limit "${text}" must have the form N/TIME.`, {
    hint: 'Examples: 10000/15m, 40/3s',
  });
}
