import type { Clock } from '../../../kernel/clock.ts';
import { codeOf, messageOf } from '../../../kernel/errors.ts';
import { diskReason } from '../../../kernel/files/disk-reason.ts';

/** The minimum time between two reports of the same cause, in ms. */
const QUIET_MS = 10_000;
const MAX_CAUSES = 100;

/** Reports internal failures of the sandbox, one line each, and the same cause at most once in ten seconds. */
export class ErrorLog {
  readonly #clock: Clock;
  readonly #print: (line: string) => void;
  readonly #reported = new Map<string, { at: number; more: number }>();

  constructor(clock: Clock, print: (line: string) => void) {
    this.#clock = clock;
    this.#print = print;
  }

  /** Reports a failure. `what` is the operation that failed, such as `POST /api/v1/esign/envelopes`. */
  report(what: string, error: unknown): void {
    const cause = diskErrorIn(error);
    const key = codeOf(cause) ?? messageOf(error);
    const now = this.#clock.now();
    const earlier = this.#reported.get(key);
    if (earlier && now - earlier.at < QUIET_MS) {
      earlier.more += 1;
      return;
    }
    if (this.#reported.size >= MAX_CAUSES) this.#reported.clear();
    this.#reported.set(key, { at: now, more: 0 });
    const more = earlier?.more ? ` (and ${earlier.more} earlier ones with the same cause)` : '';
    const path = cause && 'path' in cause ? ` (${String(cause.path)})` : '';
    const reason = cause ? `${diskReason(cause)}${path}` : messageOf(error);
    this.#print(`${what} failed: ${reason.replace(/\.$/, '')}${more}.`);
  }
}

/** Returns the file system error that caused another error; undefined if absent. */
export function diskErrorIn(error: unknown): Error | undefined {
  for (let one = error; one instanceof Error; one = one.cause)
    if ('syscall' in one && 'errno' in one) return one;
  return undefined;
}
