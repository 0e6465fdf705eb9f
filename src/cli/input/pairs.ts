import { UsageError } from '../../kernel/errors.ts';

// A key like __proto__ is a key like any other.
const PLAIN = { enumerable: true, writable: true, configurable: true };

/** `key=value` texts as an object; the value may be empty and hold further equals signs. */
export function readPairs(pairs: readonly string[] | undefined, what: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of readPairList(pairs, what))
    Object.defineProperty(result, name, { value, ...PLAIN });
  return result;
}

/** The same as a list, in the order given; a name may come more than once. */
export function readPairList(pairs: readonly string[] | undefined, what: string): [string, string][] {
  return (pairs ?? []).map((pair) => {
    const equals = pair.indexOf('=');
    if (equals < 1)
      throw new UsageError(`The ${what} "${pair}" is not of the form name=value.`, {
        hint: 'Write it like deal=4711.',
      });
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
}
