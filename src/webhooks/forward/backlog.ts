import { join } from 'node:path';
import type { OnDamage } from '../../journal/day-journal.ts';
import { durationInWords, grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { EventRecord } from '../journal/record.ts';
import type { Delivery } from '../receive/delivery.ts';
import { type ForwardEnd, ForwardLedger, type Owed } from './ledger.ts';
import { FORWARDED_FOR_MS, Forwarder, type ForwarderOptions, type HeldBack } from './queue.ts';
import { type Forwardable, shownUrl } from './send.ts';

export function forwardsFolder(): string {
  return join(stateDir(), 'forwards');
}

const DAY = durationInWords(FORWARDED_FOR_MS);

export interface ForwardingOptions extends Omit<ForwarderOptions, 'onEnd'> {
  /** Where it is written down what is still owed. */
  folder: string;
  warn: (message: string) => void;
}

/** Passes on what the listener takes, and what an earlier one with the same addresses still owed when it ended. */
export class Forwarding {
  /** How many an earlier run has left. */
  backlog = 0;
  readonly #forwarder: Forwarder;
  readonly #ledger: ForwardLedger;
  readonly #warn: ForwardingOptions['warn'];
  /** What waits for the start; undefined from then on. */
  #waiting: { owed: Owed; delivery?: Forwardable }[] | undefined = [];
  #recording: Promise<void> = Promise.resolve();

  constructor(options: ForwardingOptions) {
    this.#warn = options.warn;
    this.#ledger = new ForwardLedger(options.folder, options.clock);
    this.#forwarder = new Forwarder({ ...options, onEnd: (owed, end, url) => this.#ended(owed, end, url) });
  }

  /** The addresses as a record in the journal names them. */
  get targets(): string[] {
    return this.#forwarder.targets;
  }

  get pending(): number {
    return this.#forwarder.pending;
  }

  /** What an address has not taken for longest. */
  get heldBack(): HeldBack | undefined {
    return this.#forwarder.heldBack;
  }

  /** Tries at once what waits for its next try. Returns how many do. */
  tryNow(): number {
    return this.#forwarder.tryNow();
  }

  /** Looks for what is still owed. @param visit is handed each record since then on the way */
  async recall(
    listener: string,
    { eventsFolder, since }: { eventsFolder: string; since: number },
    visit: (record: EventRecord) => void,
    onDamage: OnDamage,
  ): Promise<void> {
    await this.#ledger.claimOwn(listener, this.targets);
    const owed = await this.#ledger.takeOver(eventsFolder, this.targets, since, visit, onDamage);
    this.#waiting = owed.map((one) => ({ owed: one }));
    this.backlog = owed.length;
  }

  /** Starts with what is still owed, then what has come meanwhile. */
  start(): void {
    for (const { owed, delivery } of this.#waiting ?? []) this.#forwarder.take(owed, delivery);
    this.#waiting = undefined;
  }

  take(delivery: Delivery, place: Owed['place']): void {
    const { deliveryId, headers, raw } = delivery;
    const { event, envelopeId } = delivery.facts ?? { event: null, envelopeId: null };
    const receivedAt = Date.parse(delivery.receivedAt);
    for (const target of this.targets) {
      const owed = { target, deliveryId, event, envelopeId, receivedAt, place };
      const forwardable = { deliveryId, event, envelopeId, headers, raw };
      if (this.#waiting === undefined) this.#forwarder.take(owed, forwardable);
      else this.#waiting.push({ owed, delivery: forwardable });
    }
  }

  /** Goes on for so many ms at most, and says what is left for the next time. */
  async stop(ms: number): Promise<void> {
    await this.#forwarder.drain(ms);
    await this.#recording;
    await this.#ledger.close();
    if (this.pending === 0) return;
    const what = this.pending === 1 ? '1 delivery is' : `${grouped(this.pending)} deliveries are`;
    this.#warn(
      `${what} not forwarded yet. The next \`esign listen\` with the same --forward-to goes on, for ${DAY} after they came.`,
    );
  }

  #ended(owed: Owed, end: ForwardEnd, url: string): void {
    const recorded = this.#ledger
      .settle(owed.deliveryId, owed.target, end)
      .catch((error: unknown) => this.#warn(messageOf(error)));
    this.#recording = this.#recording.then(() => recorded);
    if (end === 'taken') return;
    const why = end === 'refused' ? 'was refused again and again' : `was not taken within ${DAY}`;
    const { event, envelopeId, deliveryId } = owed;
    this.#warn(
      `${event ?? 'An event'} of ${envelopeId ?? 'no envelope'} (${deliveryId}) ${why} by ${shownUrl(url)} and is given up. Send it yourself: \`${command('events', 'replay', deliveryId, '--to', 'URL')}\`.`,
    );
  }
}
