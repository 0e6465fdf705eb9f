import type { Clock } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';

/** How long the result of a disk check is reused. */
const FRESH_MS = 2_000;
/** How long a health request waits for a disk check. */
const WAITED_MS = 500;
/** The time after which a disk check that hasn't finished is reported as a problem. */
const HANGS_AFTER_MS = 5_000;
/** How long a failure to store a delivery is reported if no other delivery was stored since. */
const FAILED_FOR_MS = 5_000;

/** Checks whether the journal is writable, both by writing to it on request and by the results of storing deliveries. */
export class DiskWatch {
  readonly #clock: Clock;
  readonly #check: () => Promise<void>;
  #look: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #trouble: string | undefined;
  #failed: { at: number; message: string } | undefined;

  constructor(clock: Clock, check: () => Promise<void>) {
    this.#clock = clock;
    this.#check = check;
  }

  failed(error: unknown): void {
    this.#failed = { at: this.#clock.now(), message: messageOf(error) };
  }

  taken(): void {
    this.#failed = undefined;
  }

  async trouble(): Promise<string | undefined> {
    const now = this.#clock.now();
    if (this.#look === undefined && Math.abs(now - this.#lookedAt) >= FRESH_MS) this.#start(now);
    await this.#waited();
    const pending = this.#look === undefined ? 0 : this.#clock.now() - this.#lookedAt;
    if (pending >= HANGS_AFTER_MS)
      return `The journal's disk has not responded for ${durationInWords(pending)}.`;
    if (this.#trouble !== undefined) return this.#trouble;
    const { at, message } = this.#failed ?? { at: Number.NEGATIVE_INFINITY, message: '' };
    return Math.abs(now - at) < FAILED_FOR_MS ? message : undefined;
  }

  #start(now: number): void {
    this.#lookedAt = now;
    this.#look = this.#check()
      .then(
        () => {
          this.#trouble = undefined;
        },
        (error: unknown) => {
          this.#trouble = messageOf(error);
        },
      )
      .finally(() => {
        this.#look = undefined;
      });
  }

  async #waited(): Promise<void> {
    if (this.#look === undefined) return;
    const done = new AbortController();
    await Promise.race([this.#look, this.#clock.sleep(WAITED_MS, done.signal).catch(() => undefined)]);
    done.abort();
  }
}
