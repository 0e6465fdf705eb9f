import type { Clock } from './clock.ts';

const RUNG = new Error('rung');

/** Pauses that end early when something happens; what happens between two pauses ends the next one at once. */
export class Bell {
  readonly #clock: Clock;
  #isRung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /**
   * Waits so long, or until it rings: then it is true.
   * @throws the signal's reason when that aborts first.
   */
  async wait(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.#isRung || signal?.aborted) await this.#sleep(ms, signal);
    const isRung = this.#isRung;
    this.#isRung = false;
    return isRung;
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const nap = new AbortController();
    const onAbort = () => nap.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#wake = () => nap.abort(RUNG);
    try {
      await this.#clock.sleep(ms, nap.signal);
    } catch (error) {
      if (error !== RUNG) throw error;
    } finally {
      this.#wake = undefined;
      signal?.removeEventListener('abort', onAbort);
    }
  }
}
