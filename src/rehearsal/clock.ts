import type { Clock } from '../kernel/clock.ts';

/**
 * The clock of a rehearsed run. It doesn't advance on its own: a sleep advances the sandbox's time instead of waiting. So a rate
 * window of 15 minutes takes no real time, and the same run always takes the same simulated time.
 */
export class RehearsalClock implements Clock {
  readonly #advance: (ms: number) => Promise<unknown>;
  #now: number;
  #queue: Promise<void> = Promise.resolve();

  /**
   * @param startsAt the time of the sandbox, whose clock is stopped, in ms
   * @param advance advances the sandbox's clock by this many ms
   */
  constructor(startsAt: number, advance: (ms: number) => Promise<unknown>) {
    this.#now = startsAt;
    this.#advance = advance;
  }

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.moveTo(this.now() + ms, signal);
  }

  /** Advances the time to this moment, in ms. Concurrent waits overlap instead of adding up. */
  async moveTo(moment: number, signal?: AbortSignal): Promise<void> {
    const move = async () => {
      signal?.throwIfAborted();
      const ms = Math.ceil(moment - this.now());
      if (ms <= 0) return;
      await this.#advance(ms);
      this.#now += ms;
    };
    const turn = this.#queue.then(move);
    this.#queue = turn.catch(() => undefined);
    await turn;
  }
}
