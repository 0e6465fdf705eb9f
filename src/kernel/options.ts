import { UsageError } from './errors.ts';
import { isRecord } from './json.ts';
import { nearest } from './text/nearest.ts';

/** The names of an options object. Every key of the type is required, so the list can't miss one. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/** Refuses anything but an object. @throws UsageError naming the call. */
export function checkObject(call: string, given: unknown): void {
  if (isRecord(given)) return;
  throw new UsageError(`${call} requires an object, but got ${kindOf(given)}.`, {
    hint: 'Pass the options as { name: value }.',
  });
}

/**
 * Refuses a value of another type, and an empty string. Undefined is accepted unless `isRequired`.
 * @throws UsageError naming the option.
 */
export function checkType(
  name: string,
  value: unknown,
  type: 'string' | 'boolean' | 'function',
  { isRequired }: { isRequired?: true } = {},
): void {
  if (value === undefined && !isRequired) return;
  if (typeof value === type && value !== '') return;
  throw new UsageError(`${name} must be a ${type}, but got ${kindOf(value)}.`, {
    hint: isRequired ? undefined : leaveOut(name),
  });
}

/** Returns the kind of an unusable value, for messages. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function leaveOut(name: string): string {
  return `Leave ${name} out to use its default.`;
}

/**
 * Refuses unknown options. In code without types, nothing else would detect a misspelled name.
 * @throws UsageError if the options are not an object, or naming the unknown option and the most similar known one.
 */
export function checkOptionNames<Options extends object>(
  call: string,
  given: Options,
  names: OptionNames<Options>,
): void {
  checkObject(call, given);
  const known = Object.keys(names);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const similar = nearest(unknown, known);
  const hint = similar === undefined ? `Options: ${known.join(', ')}.` : `Did you mean ${similar}?`;
  throw new UsageError(`${call} has no option "${unknown}".`, { hint });
}

/**
 * Refuses a number that is NaN, not between `min` and `max`, or not an integer. Infinity counts as an integer. Undefined is
 * accepted unless `isRequired`.
 * @throws UsageError naming the option and its range.
 */
export function checkNumber(
  name: string,
  value: number | undefined,
  { min, max = Number.POSITIVE_INFINITY, isRequired }: { min: number; max?: number; isRequired?: true },
): void {
  if (value === undefined && !isRequired) return;
  const isWhole = Number.isInteger(value) || value === Number.POSITIVE_INFINITY;
  if (value !== undefined && isWhole && value >= min && value <= max) return;
  const range = max === Number.POSITIVE_INFINITY ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new UsageError(`${name} must be a whole number ${range}, not ${String(value)}.`, {
    hint: isRequired ? undefined : leaveOut(name),
  });
}
