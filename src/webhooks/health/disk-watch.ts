import type { Clock } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';

/** So old may the last look at the disk be. */
const FRESH_MS = 2_000;
/** Whoever asks waits so long for a look at most. */
const WAITED_MS = 500;
/** A disk that takes longer is no disk to rely on. */
const HANGS_AFTER_MS = 5_000;
/** A delivery that could not be taken counts for so long, if none was taken since. */
const FAILED_FOR_MS = 5_000;

/** Whether the journal can be written: it is tried when somebody asks, and what became of deliveries counts, too. */
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
      return `The disk of the journal has not answered for ${durationInWords(pending)}.`;
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
