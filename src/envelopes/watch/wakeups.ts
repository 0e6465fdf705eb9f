import type { Clock } from '../../kernel/clock.ts';
import { Wakeable } from '../../kernel/wakeable.ts';

/** Something happened to this envelope, says another source: look at it at once. */
export interface Wakeup {
  envelopeId: string;
}

/** Envelopes to be looked at at once, and pauses that end early for them. */
export class Wakeups {
  readonly #pause: Wakeable;
  readonly #source: AsyncIterator<Wakeup> | undefined;
  #waiting = new Set<string>();
  #failure: unknown;

  constructor(clock: Clock, source: AsyncIterable<Wakeup> | undefined) {
    this.#pause = new Wakeable(clock);
    this.#source = source?.[Symbol.asyncIterator]();
    if (this.#source !== undefined) void this.#follow(this.#source);
  }

  /** The envelopes that were named since the last call. */
  take(): Set<string> {
    const taken = this.#waiting;
    this.#waiting = new Set();
    return taken;
  }

  /** Why the source failed; undefined while it has not, and after it was asked once. */
  takeFailure(): unknown {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Waits so long, or until there is something to take. Rejects with the signal's reason. */
  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size === 0) await this.#pause.wait(ms, signal);
  }

  /** Lets the source go; it may end later. */
  close(): void {
    this.#source?.return?.().catch(() => undefined);
  }

  async #follow(source: AsyncIterator<Wakeup>): Promise<void> {
    try {
      for (let next = await source.next(); !next.done; next = await source.next()) {
        this.#waiting.add(next.value.envelopeId);
        this.#pause.wake();
      }
    } catch (error) {
      this.#failure = error;
      this.#pause.wake();
    }
  }
}
