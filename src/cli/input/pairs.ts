import { UsageError } from '../../kernel/errors.ts';

// Defined as a property, because assigning to __proto__ would set the prototype.
const PLAIN = { enumerable: true, writable: true, configurable: true };

/** Parses `key=value` texts into an object. The value may be empty or contain equals signs. */
export function readPairs(pairs: readonly string[] | undefined, what: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of readPairList(pairs, what))
    Object.defineProperty(result, name, { value, ...PLAIN });
  return result;
}

/** Parses `key=value` texts into a list in the given order. A name may occur more than once. */
export function readPairList(pairs: readonly string[] | undefined, what: string): [string, string][] {
  return (pairs ?? []).map((pair) => {
    const equals = pair.indexOf('=');
    if (equals < 1)
      throw new UsageError(`The ${what} "${pair}" is not in the form name=value.`, {
        hint: 'Example: deal=4711',
      });
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
}
