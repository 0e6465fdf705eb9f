import { UsageError } from './errors.ts';
import { isRecord } from './json.ts';
import { nearest } from './text/nearest.ts';

/** The names of an options object. Every key of the type is required, so the list can't miss one. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Refuses unknown options, and anything that is not an object. In code without types, nothing else would detect a misspelled name.
 * @throws UsageError naming the unknown option and the most similar known one, or all known ones.
 */
export function checkOptionNames<Options extends object>(
  call: string,
  given: Options,
  names: OptionNames<Options>,
): void {
  const known = Object.keys(names);
  if (!isRecord(given))
    throw new UsageError(`${call} needs an object.`, { hint: `Options: ${known.join(', ')}.` });
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const similar = nearest(unknown, known);
  const hint = similar === undefined ? `Options: ${known.join(', ')}.` : `Did you mean ${similar}?`;
  throw new UsageError(`${call} has no option "${unknown}".`, { hint });
}

/**
 * Refuses a number that is NaN, not between `min` and `max`, or not an integer. Infinity counts as an integer.
 * @throws UsageError naming the option and its range.
 */
export function checkNumber(
  name: string,
  value: number | undefined,
  { min, max = Number.POSITIVE_INFINITY }: { min: number; max?: number },
): void {
  if (value === undefined) return;
  const isWhole = Number.isInteger(value) || value === Number.POSITIVE_INFINITY;
  if (isWhole && value >= min && value <= max) return;
  const range = max === Number.POSITIVE_INFINITY ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new UsageError(`${name} must be a whole number ${range}, not ${String(value)}.`, {
    hint: `Leave ${name} out to use its default.`,
  });
}
