import { UsageError } from '../kernel/errors.ts';

/** Reads the time at which the sandbox's clock starts, in ms since the epoch. @throws UsageError when it is not a time. */
export function readTime(value: Date | string | number): number {
  const at = new Date(value).getTime();
  if (!Number.isNaN(at)) return at;
  throw new UsageError(`The clock can't start at ${JSON.stringify(value)}.`, {
    hint: "Give a date like '2026-03-01' or '2026-03-01T09:00:00Z'.",
  });
}
