import type { Client } from '../api/client.ts';
import type { Clock } from '../kernel/clock.ts';
import { durationInWords } from '../kernel/duration.ts';
import { EndedOtherwiseError, NetworkError, WaitTimeoutError } from '../kernel/errors.ts';
import { isTerminal } from '../kernel/vocabulary.ts';

/** Deliveries can be lost: an awaited envelope is also looked at this often. */
const LOOK_MS = 30_000;
/** How long the last deliveries of an envelope may take once the service says that it is over. */
const LAST_MS = 3_000;
const POLL_MS = 20;
const WOKEN = new Error('woken');

/** The envelope a listener waits for: looked at when one of its deliveries comes, and from time to time. */
export class AwaitedEnvelope {
  readonly id: string;
  readonly #until: readonly string[];
  readonly #waitMs: number | undefined;
  readonly #clock: Clock;
  readonly #warn: (message: string) => Promise<void>;
  readonly #heard = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(
    options: { id: string; until: readonly string[] | undefined; waitMs: number | undefined },
    clock: Clock,
    warn: (message: string) => Promise<void>,
  ) {
    this.id = options.id;
    this.#until = options.until ?? ['COMPLETED'];
    this.#waitMs = options.waitMs;
    this.#clock = clock;
    this.#warn = warn;
  }

  /** One of its events was received. */
  heard(event: string): void {
    this.#heard.add(event);
    this.#wake?.();
  }

  /**
   * The status in which it goes no further, once its last deliveries are here or should be.
   * @throws WaitTimeoutError when it takes too long.
   */
  async reached(client: Client, signal: AbortSignal): Promise<string> {
    const deadline = this.#clock.now() + (this.#waitMs ?? Number.POSITIVE_INFINITY);
    for (;;) {
      const early = new AbortController();
      this.#wake = () => early.abort(WOKEN);
      const status = await this.#statusNow(client, signal);
      if (status !== undefined && (this.#until.includes(status) || isTerminal(status)))
        return this.#untilHeard(status, signal);
      if (this.#clock.now() >= deadline)
        throw new WaitTimeoutError(
          `${this.id} is still ${status ?? 'unknown'} after ${durationInWords(this.#waitMs ?? 0)}.`,
          {
            hint: `See where it stands: \`esign envelopes get ${this.id}\`. Wait longer with a larger --timeout.`,
          },
        );
      const ms = Math.min(LOOK_MS, deadline - this.#clock.now());
      await this.#clock.sleep(ms, AbortSignal.any([signal, early.signal])).catch((error: unknown) => {
        if (error !== WOKEN) throw error;
      });
    }
  }

  /** @throws EndedOtherwiseError when this is not where it was to get. */
  check(status: string): void {
    if (this.#until.includes(status)) return;
    throw new EndedOtherwiseError(`${this.id} is ${status}, not ${this.#until.join(' or ')}.`, {
      hint: `See why: \`esign envelopes get ${this.id}\`.`,
    });
  }

  async #untilHeard(status: string, signal: AbortSignal): Promise<string> {
    const last = `envelope.${status.toLowerCase()}`;
    for (const end = this.#clock.now() + LAST_MS; !this.#heard.has(last) && this.#clock.now() < end; )
      await this.#clock.sleep(POLL_MS, signal);
    return status;
  }

  /** Undefined while the service is away: deliveries may still come, and the next look may succeed. */
  async #statusNow(client: Client, signal: AbortSignal): Promise<string | undefined> {
    try {
      return (await client.envelopes.get(this.id, signal)).status ?? undefined;
    } catch (error) {
      if (!(error instanceof NetworkError) || signal.aborted) throw error;
      await this.#warn(error.message);
      return undefined;
    }
  }
}
