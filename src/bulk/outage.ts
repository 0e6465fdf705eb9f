import type { Clock } from '../kernel/clock.ts';
import { durationInWords } from '../kernel/duration.ts';
import { isAmbiguous, ServiceError, sentenceOf } from '../kernel/errors.ts';

export interface OutageOptions {
  clock: Clock;
  signal: AbortSignal;
  /** How long without a success until the run gives up, in ms. */
  patienceMs: number;
  /** A request that changes nothing; rejects while the service does not answer. */
  probe: () => Promise<void>;
  says: (text: string) => void;
}

/** Lost replies in a row that are chance; one more is an outage. */
const CHANCE = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** Holds all requests of a run while the service can't be reached, so that an outage does not cost a row each. */
export class Outage {
  readonly #options: OutageOptions;
  #inARow = 0;
  #mostInARow = CHANCE;
  #since: number | undefined;
  #last: Error | undefined;
  #down: Promise<void> | undefined;
  /** Longer each time until a request succeeds; that the service answers a probe alone says little. */
  #wait = FIRST_WAIT_MS;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  succeeded(): void {
    this.#inARow = 0;
    this.#mostInARow = CHANCE;
    this.#since = undefined;
    this.#wait = FIRST_WAIT_MS;
  }

  /** A request failed, or its outcome is unknown. */
  failed(error: Error): void {
    this.#last = error;
    this.#since ??= this.#options.clock.now();
    // A lost reply may be chance; a request that never reached the service is not.
    if (isAmbiguous(error) && ++this.#inARow < this.#mostInARow) return;
    this.#down ??= this.#waitForService();
    this.#down.catch(() => undefined);
  }

  /** Resolves when the service is available. @throws the last error when it has lasted too long. */
  async over(): Promise<void> {
    while (this.#down !== undefined) await this.#down;
  }

  async #waitForService(): Promise<void> {
    const { clock, signal, probe, says } = this.#options;
    for (;;) {
      this.#giveUpInTime();
      if (this.#last) says(`${sentenceOf(this.#last)} Trying again in ${durationInWords(this.#wait)}.`);
      await clock.sleep(this.#wait, signal);
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
      try {
        await probe();
        break;
      } catch (error) {
        signal.throwIfAborted();
        // Any answer of the service's own shows that it is there.
        if (error instanceof ServiceError && error.status < 500) break;
        if (error instanceof Error) this.#last = error;
      }
    }
    says('The service is back.');
    this.#inARow = 0;
    // Until a write succeeds, one failure is enough to wait again.
    this.#mostInARow = 1;
    this.#down = undefined;
  }

  #giveUpInTime(): void {
    const { clock, patienceMs } = this.#options;
    if (this.#last && this.#since !== undefined && clock.now() - this.#since > patienceMs) throw this.#last;
  }
}
