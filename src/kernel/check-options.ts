import { UsageError } from './errors.ts';
import { isRecord } from './json.ts';
import { nearest } from './text/nearest.ts';

/** Returns the kind of an unusable value, for messages. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/**
 * Refuses anything but an object with these options. In code without types, nothing else would detect a misspelled name.
 * `kind`: what they are called.
 * @throws UsageError naming the call, and the unknown option with the most similar known one.
 */
export function checkOptionNames(
  call: string,
  given: unknown,
  known: readonly string[],
  kind: 'option' | 'field' = 'option',
): void {
  if (!isRecord(given)) {
    throw new UsageError(`${call} requires an object, but got ${describeValue(given)}.`, {
      hint: `Pass the ${kind}s as { name: value }.`,
    });
  }
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const similar = nearest(unknown, known);
  const hint = similar === undefined ? `The ${kind}s are ${known.join(', ')}.` : `Did you mean ${similar}?`;
  throw new UsageError(`${call} has no ${kind} "${unknown}".`, { hint });
}
