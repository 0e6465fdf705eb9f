import type { Clock } from '../clock.ts';

const WOKEN = new Error('woken');

/** A wait that can be ended early. A wake-up between two waits ends the next one immediately. */
export class Wakeable {
  readonly #clock: Clock;
  #isWoken = false;
  #endSleep: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#isWoken = true;
    this.#endSleep?.();
  }

  /**
   * Waits for `ms` or until woken. Returns true if it was woken.
   * @throws the signal's reason if that aborts first.
   */
  async wait(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.#isWoken || signal?.aborted) await this.#sleep(ms, signal);
    const isWoken = this.#isWoken;
    this.#isWoken = false;
    return isWoken;
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const sleep = new AbortController();
    const onAbort = () => sleep.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#endSleep = () => sleep.abort(WOKEN);
    try {
      await this.#clock.sleep(ms, sleep.signal);
    } catch (error) {
      if (error !== WOKEN) throw error;
    } finally {
      this.#endSleep = undefined;
      signal?.removeEventListener('abort', onAbort);
    }
  }
}
