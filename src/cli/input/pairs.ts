import { UsageError } from '../../kernel/errors.ts';

/**
 * Parses `key=value` texts into an object. The value may be empty or contain equals signs.
 * @throws UsageError if a key is given twice
 */
export function readPairs(pairs: readonly string[] | undefined, what: string): Record<string, string> {
  const list = readPairList(pairs, what);
  const keys = list.map(([key]) => key);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined)
    throw new UsageError(`The ${what} ${twice} is given twice.`, { hint: 'Keep only one of the values.' });
  // This creates own properties for any name, including __proto__.
  return Object.fromEntries(list);
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
