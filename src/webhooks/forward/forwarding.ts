import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS, durationInWords, grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { OnWarning } from '../journal/event-journal.ts';
import type { EventRecord } from '../journal/record.ts';
import type { Delivery } from '../receive/delivery.ts';
import { type ForwardEnd, ForwardLedger, type PendingForward } from './ledger.ts';
import { Forwarder, type ForwarderOptions, RETRY_PERIOD_MS } from './queue.ts';
import { type Forwardable, shownUrl } from './send.ts';

export function forwardsFolder(): string {
  return join(stateDir(), 'forwards');
}

/** How long repeated deliveries are recognized. */
const DUPLICATE_WINDOW_MS = DAY_MS;
/** How far back pending forwards are found. Those that have expired are only reported. */
const PENDING_WINDOW_MS = 7 * DAY_MS;
const RETRY_PERIOD = durationInWords(RETRY_PERIOD_MS);

export interface ForwardingOptions extends Omit<ForwarderOptions, 'onEnd'> {
  /** The folder of the forward ledger. */
  folder: string;
  warn: (message: string) => void;
}

/** Forwards received deliveries, including pending ones of earlier listeners with the same target addresses. */
export class Forwarding {
  /** The number of pending deliveries from earlier listeners. */
  backlog = 0;
  /** Sends the deliveries. */
  readonly queue: Forwarder;
  readonly #clock: Clock;
  readonly #ledger: ForwardLedger;
  readonly #warn: ForwardingOptions['warn'];
  /** Deliveries queued before `start`; undefined afterwards. */
  #waiting: { pending: PendingForward; delivery?: Forwardable }[] | undefined = [];
  #recording: Promise<void> = Promise.resolve();

  constructor(options: ForwardingOptions) {
    this.#warn = options.warn;
    this.#clock = options.clock;
    this.#ledger = new ForwardLedger(options.folder, options.clock);
    this.queue = new Forwarder({
      ...options,
      onEnd: (pending, end, url) => this.#ended(pending, end, url),
    });
  }

  /** Reads the pending deliveries and the recent IDs from the journal. Returns the IDs, oldest first. */
  async recall(listener: string, eventsFolder: string, warn: OnWarning): Promise<string[]> {
    const { targets } = this.queue;
    const now = this.#clock.now();
    const spanMs = targets.length > 0 ? PENDING_WINDOW_MS : DUPLICATE_WINDOW_MS;
    const recent = new Date(now - DUPLICATE_WINDOW_MS).toISOString();
    const seen: { receivedAt: string; id: string }[] = [];
    const visit = ({ reason, receivedAt, id }: EventRecord) => {
      if (reason === null && receivedAt >= recent) seen.push({ receivedAt, id });
    };
    await this.#ledger.lockOwn(listener, targets);
    const pending = await this.#ledger.takeOver(eventsFolder, targets, now - spanMs, visit, warn);
    this.#waiting = pending.map((one) => ({ pending: one }));
    this.backlog = pending.length;
    return seen.sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1)).map(({ id }) => id);
  }

  /** Starts forwarding: first the pending deliveries, then those that have arrived since. */
  start(): void {
    for (const { pending, delivery } of this.#waiting ?? []) this.queue.enqueue(pending, delivery);
    this.#waiting = undefined;
  }

  enqueue(delivery: Delivery, place: PendingForward['place']): void {
    const { deliveryId, event, envelopeId, headers, raw } = delivery;
    const receivedAt = Date.parse(delivery.receivedAt);
    // Without the parsed body, which would take several times the memory of the bytes.
    const forwardable = { deliveryId, event, envelopeId, headers, raw };
    for (const target of this.queue.targets) {
      const pending = { target, deliveryId, event, envelopeId, receivedAt, place };
      if (this.#waiting === undefined) this.queue.enqueue(pending, forwardable);
      else this.#waiting.push({ pending, delivery: forwardable });
    }
  }

  /** Continues forwarding for at most `ms`, then stops and reports what is still pending. */
  async stop(ms: number): Promise<void> {
    await this.queue.drain(ms);
    await this.#recording;
    await this.#ledger.close();
    const { pending } = this.queue;
    if (pending === 0) return;
    const what = pending === 1 ? '1 delivery is' : `${grouped(pending)} deliveries are`;
    this.#warn(
      `${what} not forwarded yet. The next \`esign listen\` with the same --forward-to continues, for up to ${RETRY_PERIOD} after they were received.`,
    );
  }

  #ended(pending: PendingForward, end: ForwardEnd, url: string): void {
    const recorded = this.#ledger
      .recordEnd(pending.deliveryId, pending.target, end)
      .catch((error: unknown) => this.#warn(messageOf(error)));
    this.#recording = this.#recording.then(() => recorded);
    if (end === 'taken') return;
    const why = end === 'refused' ? 'was refused repeatedly' : `was not accepted within ${RETRY_PERIOD}`;
    const { event, envelopeId, deliveryId } = pending;
    this.#warn(
      `${event ?? 'An event'} for ${envelopeId ?? 'no envelope'} (${deliveryId}) ${why} by ${shownUrl(url)} and won't be retried. To send it again, run \`${command('events', 'replay', deliveryId, '--to', 'URL')}\`.`,
    );
  }
}
