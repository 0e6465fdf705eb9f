import type { Context } from '../../cli/context.ts';
import { WATCH_PACE } from '../../envelopes/defaults.ts';
import type { Wakeup } from '../../envelopes/watch/wakeups.ts';
import { type WatchEvent, watchEnvelopes } from '../../envelopes/watch/watch.ts';
import { readQuietly } from '../../envelopes/write-outcome.ts';
import { Channel } from '../../kernel/async/channel.ts';
import { Wakeable } from '../../kernel/async/wakeable.ts';
import { TimeLimit } from '../../kernel/clock.ts';
import { sentenceOf, UnexpectedStatusError } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { Delivery } from '../../webhooks/receive/delivery.ts';
import { followSuccessor, successorOf } from '../envelopes/replace/successor.ts';
import { deadlineAfter, WATCH_PACING } from '../envelopes/watch/limits.ts';

/** How long to wait for the last deliveries of a finished envelope. */
const GRACE_MS = 3_000;

/** Waits for an envelope by polling, and polls immediately after each of its deliveries. */
export class AwaitedEnvelope {
  readonly id: string;
  readonly #until: readonly string[];
  readonly #waitMs: number | undefined;
  readonly #context: Context;
  readonly #warn: (message: string) => void;
  readonly #wakeups = new Channel<Wakeup>();
  readonly #deliveries = new Set<string | null>();
  readonly #pause: Wakeable;

  constructor(
    id: string,
    flags: { until?: readonly string[] | undefined; wait?: number | undefined },
    context: Context,
    warn: (message: string) => void,
  ) {
    this.id = id;
    this.#until = flags.until ?? ['COMPLETED'];
    this.#waitMs = flags.wait;
    this.#context = context;
    this.#warn = warn;
    this.#pause = new Wakeable(context.session.clock);
  }

  /** Handles an accepted delivery. */
  addDelivery({ envelopeId, event }: Delivery): void {
    if (envelopeId !== this.id) return;
    this.#deliveries.add(event);
    this.#pause.wake();
    this.#wakeups.push({ envelopeId: this.id });
  }

  /**
   * Returns the final status once the last deliveries have arrived or their time limit is over.
   * @throws WaitTimeoutError if it takes too long; the service's error if the envelope is unknown or the key is refused.
   */
  async reached(signal: AbortSignal): Promise<string> {
    const client = await this.#context.session.client(WATCH_PACING);
    const deadline = deadlineAfter(this.#waitMs, ['envelopes', 'watch', this.id]);
    const events = watchEnvelopes(client, [this.id], {
      ...WATCH_PACE,
      until: this.#until,
      wakeups: this.#wakeups,
      signal: AbortSignal.any([signal, deadline.signal]),
    });
    let status = 'UNKNOWN';
    try {
      for await (const event of events) status = this.#take(event) ?? status;
    } finally {
      deadline.stop();
      this.#wakeups.close();
    }
    await this.#waitForDelivery(`envelope.${status.toLowerCase()}`, signal);
    return status;
  }

  /** @throws UnexpectedStatusError if the envelope is not in one of the awaited statuses */
  async check(status: string): Promise<void> {
    if (this.#until.includes(status)) return;
    const client = await this.#context.session.client(WATCH_PACING);
    const envelope = await readQuietly(client, this.id, this.#context.interrupt.signal);
    const made = envelope && (await successorOf(envelope, { client, looks: true }, this.#context));
    throw new UnexpectedStatusError(`${this.id} is ${status}, not ${this.#until.join(' or ')}.`, {
      hint: made ? followSuccessor(this.id, made) : `See why: \`${command('envelopes', 'get', this.id)}\`.`,
    });
  }

  /** Returns the status if the event has one. */
  #take(event: WatchEvent): string | undefined {
    if (event.type === 'gone') throw event.error;
    if (event.type === 'outage' && event.failures === 1)
      this.#warn(`${sentenceOf(event.error)} Still waiting.`);
    if (event.type === 'recovered') this.#warn('The service is responding again.');
    return event.type === 'change' ? event.change.to : undefined;
  }

  async #waitForDelivery(last: string, signal: AbortSignal): Promise<void> {
    const grace = new TimeLimit(this.#context.session.clock, GRACE_MS);
    while (!this.#deliveries.has(last) && grace.left() > 0) await this.#pause.wait(grace.left(), signal);
  }
}
