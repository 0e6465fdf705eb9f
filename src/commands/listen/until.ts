import type { Context } from '../../cli/context.ts';
import { readQuietly } from '../../envelopes/settle.ts';
import type { Wakeup } from '../../envelopes/watch/wakeups.ts';
import { type WatchEvent, watchEnvelopes } from '../../envelopes/watch/watch.ts';
import { Bell } from '../../kernel/bell.ts';
import { Channel } from '../../kernel/channel.ts';
import { EndedOtherwiseError, sentenceOf } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { EventFacts } from '../../webhooks/receive/payload.ts';
import { followSuccessor, successorOf } from '../envelopes/replace/successor.ts';
import { deadlineAfter, WATCH_PACE, WATCH_PACING } from '../envelopes/watch/limits.ts';

/** How long the last deliveries of an envelope may take once the service says that it is over. */
const LAST_MS = 3_000;

/** The envelope a listener waits for: a watch that its deliveries wake up. */
export class AwaitedEnvelope {
  readonly id: string;
  readonly #until: readonly string[];
  readonly #waitMs: number | undefined;
  readonly #context: Context;
  readonly #warn: (message: string) => void;
  readonly #wakeups = new Channel<Wakeup>();
  readonly #heard = new Set<string | null>();
  readonly #bell: Bell;

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
    this.#bell = new Bell(context.session.clock);
  }

  /** A delivery was accepted. */
  heard(facts: EventFacts | null): void {
    if (facts?.envelopeId !== this.id) return;
    this.#heard.add(facts.event);
    this.#bell.ring();
    this.#wakeups.push({ envelopeId: this.id });
  }

  /**
   * The status in which it goes no further, once its last deliveries are here or should be.
   * @throws WaitTimeoutError when it takes too long; what the service says when it does not know it, or refuses the key.
   */
  async reached(signal: AbortSignal): Promise<string> {
    const client = await this.#context.session.client(WATCH_PACING);
    const deadline = deadlineAfter(this.#waitMs, [this.id]);
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
    await this.#untilHeard(`envelope.${status.toLowerCase()}`, signal);
    return status;
  }

  /** @throws EndedOtherwiseError when this is not where it was to get. */
  async check(status: string): Promise<void> {
    if (this.#until.includes(status)) return;
    const client = await this.#context.session.client(WATCH_PACING);
    const envelope = await readQuietly(client, this.id, this.#context.interrupt.signal);
    const made = envelope && (await successorOf(envelope, { client, looks: true }, this.#context));
    throw new EndedOtherwiseError(`${this.id} is ${status}, not ${this.#until.join(' or ')}.`, {
      hint: made ? followSuccessor(this.id, made) : `See why: \`${command('envelopes', 'get', this.id)}\`.`,
    });
  }

  /** The status, where the event tells one. */
  #take(event: WatchEvent): string | undefined {
    if (event.type === 'gone') throw event.error;
    if (event.type === 'outage' && event.failures === 1)
      this.#warn(`${sentenceOf(event.error)} Waiting goes on.`);
    if (event.type === 'recovered') this.#warn('The service answers again.');
    return event.type === 'change' ? event.change.to : undefined;
  }

  async #untilHeard(last: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context.session;
    const end = clock.now() + LAST_MS;
    while (!this.#heard.has(last) && clock.now() < end) await this.#bell.wait(end - clock.now(), signal);
  }
}
