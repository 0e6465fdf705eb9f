import type { Clock } from '../../../kernel/clock.ts';
import { codeOf, messageOf } from '../../../kernel/errors.ts';
import { diskReason } from '../../../kernel/files/disk-reason.ts';

/** A cause that was told is not told again for so long. */
const QUIET_MS = 10_000;
const MOST_CAUSES = 100;

/** Tells whoever runs the sandbox why something failed inside: a line each, the same cause once in ten seconds. */
export class Trouble {
  readonly #clock: Clock;
  readonly #say: (line: string) => void;
  readonly #told = new Map<string, { at: number; more: number }>();

  constructor(clock: Clock, say: (line: string) => void) {
    this.#clock = clock;
    this.#say = say;
  }

  /** `what` failed, such as `POST /api/v1/esign/envelopes`. */
  tell(what: string, error: unknown): void {
    const cause = diskErrorIn(error);
    const key = codeOf(cause) ?? messageOf(error);
    const now = this.#clock.now();
    const earlier = this.#told.get(key);
    if (earlier && now - earlier.at < QUIET_MS) {
      earlier.more += 1;
      return;
    }
    if (this.#told.size >= MOST_CAUSES) this.#told.clear();
    this.#told.set(key, { at: now, more: 0 });
    const more = earlier?.more ? ` (and ${earlier.more} more of that cause before)` : '';
    const path = cause && 'path' in cause ? ` (${String(cause.path)})` : '';
    const reason = cause ? `${diskReason(cause)}${path}` : messageOf(error);
    this.#say(`${what} failed: ${reason.replace(/\.$/, '')}${more}.`);
  }
}

/** The error of the file system at the bottom of another one; undefined when there is none. */
export function diskErrorIn(error: unknown): Error | undefined {
  for (let one = error; one instanceof Error; one = one.cause)
    if ('syscall' in one && 'errno' in one) return one;
  return undefined;
}
