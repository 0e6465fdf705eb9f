import { join } from 'node:path';
import type { OnDamage } from '../../journal/day-journal.ts';
import { durationInWords, grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { EventRecord } from '../journal/record.ts';
import type { Delivery } from '../receive/delivery.ts';
import { type ForwardEnd, ForwardLedger, type PendingForward } from './ledger.ts';
import { Forwarder, type ForwarderOptions, type OldestPending, RETRY_PERIOD_MS } from './queue.ts';
import { type Forwardable, shownUrl } from './send.ts';

export function forwardsFolder(): string {
  return join(stateDir(), 'forwards');
}

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
  readonly #forwarder: Forwarder;
  readonly #ledger: ForwardLedger;
  readonly #warn: ForwardingOptions['warn'];
  /** Deliveries queued before `start`; undefined afterwards. */
  #waiting: { pending: PendingForward; delivery?: Forwardable }[] | undefined = [];
  #recording: Promise<void> = Promise.resolve();

  constructor(options: ForwardingOptions) {
    this.#warn = options.warn;
    this.#ledger = new ForwardLedger(options.folder, options.clock);
    this.#forwarder = new Forwarder({
      ...options,
      onEnd: (pending, end, url) => this.#ended(pending, end, url),
    });
  }

  /** The target addresses as the journal names them. */
  get targets(): string[] {
    return this.#forwarder.targets;
  }

  get pending(): number {
    return this.#forwarder.pending;
  }

  /** The delivery that has been pending the longest. */
  get oldestPending(): OldestPending | undefined {
    return this.#forwarder.oldestPending;
  }

  /** Retries all delayed deliveries immediately and returns their number. */
  retryNow(): number {
    return this.#forwarder.retryNow();
  }

  /** Finds pending deliveries. @param visit is called with each record read, so that the journal is read only once */
  async loadPending(
    listener: string,
    { eventsFolder, since }: { eventsFolder: string; since: number },
    visit: (record: EventRecord) => void,
    onDamage: OnDamage,
  ): Promise<void> {
    await this.#ledger.lockOwn(listener, this.targets);
    const pending = await this.#ledger.takeOver(eventsFolder, this.targets, since, visit, onDamage);
    this.#waiting = pending.map((one) => ({ pending: one }));
    this.backlog = pending.length;
  }

  /** Starts forwarding: first the pending deliveries, then those that have arrived since. */
  start(): void {
    for (const { pending, delivery } of this.#waiting ?? []) this.#forwarder.enqueue(pending, delivery);
    this.#waiting = undefined;
  }

  enqueue(delivery: Delivery, place: PendingForward['place']): void {
    const { deliveryId, headers, raw } = delivery;
    const { event, envelopeId } = delivery.facts ?? { event: null, envelopeId: null };
    const receivedAt = Date.parse(delivery.receivedAt);
    for (const target of this.targets) {
      const pending = { target, deliveryId, event, envelopeId, receivedAt, place };
      const forwardable = { deliveryId, event, envelopeId, headers, raw };
      if (this.#waiting === undefined) this.#forwarder.enqueue(pending, forwardable);
      else this.#waiting.push({ pending, delivery: forwardable });
    }
  }

  /** Continues forwarding for at most `ms`, then stops and reports what is still pending. */
  async stop(ms: number): Promise<void> {
    await this.#forwarder.drain(ms);
    await this.#recording;
    await this.#ledger.close();
    if (this.pending === 0) return;
    const what = this.pending === 1 ? '1 delivery is' : `${grouped(this.pending)} deliveries are`;
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
