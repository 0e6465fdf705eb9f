import { Wakeable } from '../../kernel/async/wakeable.ts';
import type { Clock } from '../../kernel/clock.ts';

/** Another source reports an event of this envelope, so it is polled immediately. */
export interface Wakeup {
  envelopeId: string;
}

/** The envelopes to poll immediately, and pauses that end early for them. */
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

  /** Returns the envelopes reported since the last call. */
  take(): Set<string> {
    const taken = this.#waiting;
    this.#waiting = new Set();
    return taken;
  }

  /** Returns the source's error once; undefined if it has none. */
  takeFailure(): unknown {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Waits for this time or until an envelope is reported. Rejects with the signal's reason. */
  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size === 0) await this.#pause.wait(ms, signal);
  }

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
