import { UsageError } from '../kernel/errors.ts';

// A key like __proto__ is a key like any other.
const PLAIN = { enumerable: true, writable: true, configurable: true };

/** `key=value` texts as an object; the value may be empty and hold further equals signs. */
export function readPairs(pairs: readonly string[] | undefined, what: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const pair of pairs ?? []) {
    const equals = pair.indexOf('=');
    if (equals < 1) throw new UsageError(`The ${what} "${pair}" is not of the form name=value.`);
    Object.defineProperty(result, pair.slice(0, equals), { value: pair.slice(equals + 1), ...PLAIN });
  }
  return result;
}
