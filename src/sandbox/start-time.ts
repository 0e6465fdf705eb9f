import { UsageError } from '../kernel/errors.ts';

/** Parses the start time of the sandbox's clock. Returns ms since the epoch. @throws UsageError if it isn't a time. */
export function readTime(value: Date | string | number): number {
  const at = new Date(value).getTime();
  if (!Number.isNaN(at)) return at;
  throw new UsageError(`The clock can't start at ${JSON.stringify(value)}.`, {
    hint: "Use a date such as '2026-03-01' or '2026-03-01T09:00:00Z'.",
  });
}
