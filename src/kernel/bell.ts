import type { Clock } from './clock.ts';

const RUNG = new Error('rung');

/** Pauses that can be ended early. A wake-up between two pauses ends the next one immediately. */
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
   * Waits `ms`, or until it is woken; returns true then.
   * @throws the signal's reason if that aborts first.
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
