import { type Clock, waitAtMost } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';

/** How long the result of a disk check is reused. */
const FRESH_MS = 2_000;
/** How long a health request waits for a disk check. */
const CHECK_WAIT_MS = 500;
/** The time after which a disk check that hasn't finished is reported as a problem. */
const HANGS_AFTER_MS = 5_000;
/** How long a failure to store a delivery is reported if no other delivery was stored since. */
const FAILED_FOR_MS = 5_000;

/** Checks whether the journal is writable, both by writing to it on request and by the results of storing deliveries. */
export class DiskWatch {
  readonly #clock: Clock;
  readonly #check: () => Promise<void>;
  #pendingCheck: Promise<void> | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;
  #failed: { at: number; message: string } | undefined;

  constructor(clock: Clock, check: () => Promise<void>) {
    this.#clock = clock;
    this.#check = check;
  }

  failed(error: unknown): void {
    this.#failed = { at: this.#clock.now(), message: messageOf(error) };
  }

  succeeded(): void {
    this.#failed = undefined;
  }

  async findProblem(): Promise<string | undefined> {
    const now = this.#clock.now();
    if (this.#pendingCheck === undefined && Math.abs(now - this.#checkedAt) >= FRESH_MS) {
      this.#checkedAt = now;
      this.#pendingCheck = this.#run();
    }
    if (this.#pendingCheck !== undefined) await waitAtMost(CHECK_WAIT_MS, this.#pendingCheck, this.#clock);
    const pending = this.#pendingCheck === undefined ? 0 : this.#clock.now() - this.#checkedAt;
    if (pending >= HANGS_AFTER_MS)
      return `The journal's disk has not responded for ${durationInWords(pending)}.`;
    if (this.#problem !== undefined) return this.#problem;
    const failed = this.#failed;
    return failed && Math.abs(now - failed.at) < FAILED_FOR_MS ? failed.message : undefined;
  }

  async #run(): Promise<void> {
    this.#problem = await this.#check().then(() => undefined, messageOf);
    this.#pendingCheck = undefined;
  }
}
