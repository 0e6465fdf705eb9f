import { Wakeable } from '../../kernel/async/wakeable.ts';
import type { Clock } from '../../kernel/clock.ts';

/** The envelopes of which another source reports an event, and pauses that end early for them. */
export class Wakeups {
  readonly #pause: Wakeable;
  #waiting = new Set<string>();

  /** `source` yields IDs of envelopes. Polling continues if it fails. */
  constructor(clock: Clock, source: AsyncIterable<string> | undefined) {
    this.#pause = new Wakeable(clock);
    if (source !== undefined) this.#follow(source).catch(() => undefined);
  }

  /** Waits for this time or until an envelope is reported. Returns those reported since the last call. */
  async sleep(ms: number, signal: AbortSignal | undefined): Promise<ReadonlySet<string>> {
    if (this.#waiting.size === 0) await this.#pause.wait(ms, signal);
    const taken = this.#waiting;
    this.#waiting = new Set();
    return taken;
  }

  async #follow(source: AsyncIterable<string>): Promise<void> {
    for await (const id of source) {
      this.#waiting.add(id);
      this.#pause.wake();
    }
  }
}
