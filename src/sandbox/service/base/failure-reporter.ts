import type { Clock } from '../../../kernel/clock.ts';
import { codeOf, messageOf } from '../../../kernel/errors.ts';
import { diskReason } from '../../../kernel/files/disk-reason.ts';

/** The minimum time between two reports of the same cause, in ms. */
const QUIET_MS = 10_000;
const MAX_CAUSES = 100;

/** Reports a failure of an operation, such as `POST /api/v1/esign/envelopes`. */
export type ReportFailure = (operation: string, error: unknown) => void;

/** Returns a function that reports internal failures of the sandbox, one line each, and the same cause at most once in ten seconds. */
export function failureReporter(clock: Clock, print: (line: string) => void): ReportFailure {
  const reported = new Map<string, { at: number; more: number }>();
  return (operation, error) => {
    const cause = diskErrorIn(error);
    const key = codeOf(cause) ?? messageOf(error);
    const now = clock.now();
    const earlier = reported.get(key);
    if (earlier && now - earlier.at < QUIET_MS) {
      earlier.more += 1;
      return;
    }
    if (reported.size >= MAX_CAUSES) reported.clear();
    reported.set(key, { at: now, more: 0 });
    const more = earlier?.more ? ` (and ${earlier.more} earlier ones with the same cause)` : '';
    const path = cause && 'path' in cause ? ` (${String(cause.path)})` : '';
    const reason = cause ? `${diskReason(cause)}${path}` : messageOf(error);
    print(`${operation} failed: ${reason.replace(/\.$/, '')}${more}.`);
  };
}

/** Returns the file system error that caused another error; undefined if absent. */
export function diskErrorIn(error: unknown): Error | undefined {
  for (let one = error; one instanceof Error; one = one.cause)
    if ('syscall' in one && 'errno' in one) return one;
  return undefined;
}
