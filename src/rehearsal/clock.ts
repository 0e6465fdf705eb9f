import type { Clock } from '../kernel/clock.ts';

/**
 * The clock of a rehearsed run: whoever waits moves the sandbox's time on instead, so that a rate window of 15 minutes takes
 * no time.
 */
export class RehearsalClock implements Clock {
  readonly #advance: (ms: number) => Promise<unknown>;
  #offsetMs = 0;
  #queue: Promise<void> = Promise.resolve();

  /** `advance`: moves the sandbox's clock on by this many ms. */
  constructor(advance: (ms: number) => Promise<unknown>) {
    this.#advance = advance;
  }

  now(): number {
    return Date.now() + this.#offsetMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.moveTo(this.now() + ms, signal);
  }

  /** Moves the time on to this moment, in ms; those that wait at the same time don't add up. */
  async moveTo(moment: number, signal?: AbortSignal): Promise<void> {
    const move = async () => {
      signal?.throwIfAborted();
      const ms = Math.ceil(moment - this.now());
      if (ms <= 0) return;
      await this.#advance(ms);
      this.#offsetMs += ms;
    };
    const turn = this.#queue.then(move);
    this.#queue = turn.catch(() => undefined);
    await turn;
  }
}
