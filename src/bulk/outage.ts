import { type BackOff, backOff } from '../kernel/async/back-off.ts';
import type { Clock } from '../kernel/clock.ts';
import { durationInWords } from '../kernel/duration.ts';
import { ServiceError, sentenceOf } from '../kernel/errors.ts';
import { isAmbiguous } from '../kernel/request-failures.ts';

export interface OutageOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Makes a request that changes nothing. Rejects while the service does not respond. */
  probe: () => Promise<void>;
  notice: (text: string) => void;
}

/** Number of consecutive lost responses that counts as an outage; fewer may be chance. */
const LOST_RESPONSES = 5;
/** How long a run waits without a success before it gives up, in ms. */
const MAX_OUTAGE_MS = 10 * 60_000;
const WAITING = `The run continues when the service responds again, within ${durationInWords(MAX_OUTAGE_MS)}. No row is sent twice.`;
const PROBE_DELAY: BackOff = { firstMs: 1_000, longestMs: 30_000 };

/** Holds all requests of a run while the service can't be reached, so that an outage doesn't fail row after row. */
export class Outage {
  readonly #options: OutageOptions;
  #failures = 0;
  #since: number | undefined;
  #last: Error | undefined;
  #waiting: Promise<void> | undefined;
  /** Doubles with each attempt until a request succeeds. A probe that succeeds is not enough to reset it. */
  #probes = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#since = undefined;
    this.#probes = 0;
  }

  /** Records a request that failed or whose outcome is unknown. */
  failed(error: Error): void {
    this.#last = error;
    this.#since ??= this.#options.clock.now();
    this.#failures++;
    // A lost response may be chance; a request that never reached the service is not.
    if (isAmbiguous(error) && this.#failures < LOST_RESPONSES) return;
    this.#waiting ??= this.#waitForService();
    this.#waiting.catch(() => undefined);
  }

  /** Waits until the service is available after a read failed, even if that was the first failure. @throws as `waitUntilOver`. */
  async confirm(error: Error): Promise<void> {
    this.#last = error;
    this.#waiting ??= this.#waitForService();
    await this.waitUntilOver();
  }

  /** Resolves when the service is available. @throws the last error when the outage has lasted too long. */
  async waitUntilOver(): Promise<void> {
    while (this.#waiting !== undefined) await this.#waiting;
  }

  async #waitForService(): Promise<void> {
    const { clock, signal, probe, notice } = this.#options;
    for (let isFirst = true; ; isFirst = false) {
      this.#throwIfTooLong();
      const wait = backOff(this.#probes++, PROBE_DELAY);
      this.#report(isFirst, wait);
      await clock.sleep(wait, signal);
      try {
        await probe();
        break;
      } catch (error) {
        signal.throwIfAborted();
        // Any response from the service itself shows that it is available.
        if (error instanceof ServiceError && error.status < 500) break;
        if (error instanceof Error) this.#last = error;
      }
    }
    notice('The service is responding again.');
    // Until a request succeeds, one failure is enough to wait again.
    this.#failures = LOST_RESPONSES - 1;
    this.#waiting = undefined;
  }

  #report(isFirst: boolean, wait: number): void {
    // Short waits would only repeat the first notice.
    if (this.#last === undefined || (!isFirst && wait < PROBE_DELAY.longestMs)) return;
    const next = isFirst ? WAITING : `Trying again in ${durationInWords(wait)}.`;
    this.#options.notice(`${sentenceOf(this.#last)} ${next}`);
  }

  #throwIfTooLong(): void {
    const outageMs = this.#options.clock.now() - (this.#since ?? Number.POSITIVE_INFINITY);
    if (this.#last && outageMs > MAX_OUTAGE_MS) throw this.#last;
  }
}
