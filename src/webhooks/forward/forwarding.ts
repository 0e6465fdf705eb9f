import type { DayJournal, JournalPosition } from '../../journal/day-journal.ts';
import { DAY_MS, durationInWords, grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { eventAt, type OnWarning, scanJournal } from '../journal/event-journal.ts';
import { type EventRecord, type ForwardOutcome, isEvent, type JournalEntry } from '../journal/record.ts';
import { MAX_REMEMBERED_IDS } from '../listen-limits.ts';
import { NewestIds } from './newest-ids.ts';
import { Forwarder, type ForwarderOptions, type PendingForward, RETRY_PERIOD_MS } from './queue.ts';
import { shownUrl, storedDelivery } from './send.ts';

/** How long repeated deliveries are recognized. */
const DUPLICATE_WINDOW_MS = DAY_MS;
/** How far back pending forwards are found. Those that have expired are only reported. */
const PENDING_WINDOW_MS = 7 * DAY_MS;
const RETRY_PERIOD = durationInWords(RETRY_PERIOD_MS);

export interface ForwardingOptions extends Omit<ForwarderOptions, 'onEnd' | 'read'> {
  /** The listener's journal, where outcomes are recorded next to the deliveries. */
  journal: Pick<DayJournal<JournalEntry>, 'append'>;
  warn: (message: string) => void;
}

/**
 * Forwards received deliveries, and those that earlier listeners could not forward to the same addresses. The journal shows what is
 * pending: a delivery names its addresses, and each forward that ended is an entry of its own.
 */
export class Forwarding {
  /** Sends the deliveries. */
  readonly queue: Forwarder;
  readonly #options: ForwardingOptions;
  /** Deliveries to forward after `start`; undefined afterwards. */
  #waiting: PendingForward[] | undefined = [];
  #recording: Promise<void> = Promise.resolve();

  constructor(options: ForwardingOptions) {
    this.#options = options;
    this.queue = new Forwarder({
      ...options,
      read: async ({ place, deliveryId }) => {
        const record = await eventAt(place, deliveryId);
        return record && storedDelivery(record);
      },
      onEnd: (pending, outcome, url) => this.#ended(pending, outcome, url),
    });
  }

  /** Reads the pending deliveries and the recent IDs from the journal. Returns the IDs, oldest first. */
  async recall(eventsFolder: string, warn: OnWarning): Promise<string[]> {
    const { targets } = this.queue;
    const now = this.#options.clock.now();
    const recent = new Date(now - DUPLICATE_WINDOW_MS).toISOString();
    const seen = new NewestIds(MAX_REMEMBERED_IDS);
    const pending = new Map<string, PendingForward>();
    /** Ends that were read before their deliveries, which are in another listener's file. */
    const ended = new Set<string>();
    const end = (deliveryId: string, target: string) => {
      const name = `${deliveryId} ${target}`;
      if (targets.includes(target) && !pending.delete(name)) ended.add(name);
    };
    const take = (entry: JournalEntry, place: JournalPosition) => {
      if (!isEvent(entry)) return end(entry.forwarded, entry.target);
      const { reason, receivedAt, id, deliveryId } = entry;
      if (reason === null && receivedAt >= recent) seen.add(id, receivedAt);
      for (const target of entry.targets ?? []) {
        const name = `${deliveryId} ${target}`;
        if (targets.includes(target) && !ended.delete(name))
          pending.set(name, pendingOf(entry, target, place));
      }
    };
    const since = now - (targets.length > 0 ? PENDING_WINDOW_MS : DUPLICATE_WINDOW_MS);
    await scanJournal(eventsFolder, since, take, warn);
    this.#waiting = [...pending.values()].sort(
      (a, b) => a.receivedAt - b.receivedAt || a.place.start - b.place.start,
    );
    return seen.oldestFirst();
  }

  /** Starts forwarding: first the pending deliveries, then those that have arrived since. */
  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const pending of waiting) this.queue.enqueue(pending);
  }

  enqueue(record: EventRecord, place: JournalPosition): void {
    for (const target of record.targets ?? []) {
      const pending = pendingOf(record, target, place);
      if (this.#waiting === undefined) this.queue.enqueue(pending);
      else this.#waiting.push(pending);
    }
  }

  /** Waits at most `ms` for open forwards, then stops and reports what is still pending. */
  async stop(ms: number): Promise<void> {
    await this.queue.stop(ms);
    await this.#recording;
    const { pending } = this.queue;
    if (pending === 0) return;
    const what = pending === 1 ? '1 delivery is' : `${grouped(pending)} deliveries are`;
    this.#options.warn(
      `${what} not forwarded yet. The next \`esign listen\` with the same --forward-to continues, for up to ${RETRY_PERIOD} after they were received.`,
    );
  }

  #ended(
    { deliveryId, target, event, envelopeId }: PendingForward,
    outcome: ForwardOutcome,
    url: string,
  ): void {
    const { journal, warn } = this.#options;
    const recorded = journal
      .append({ forwarded: deliveryId, target, outcome })
      .then(() => undefined)
      .catch((error: unknown) => warn(messageOf(error)));
    this.#recording = this.#recording.then(() => recorded);
    if (outcome === 'accepted') return;
    const why = outcome === 'refused' ? 'was refused repeatedly' : `was not accepted within ${RETRY_PERIOD}`;
    warn(
      `${event ?? 'An event'} for ${envelopeId ?? 'no envelope'} (${deliveryId}) ${why} by ${shownUrl(url)} and won't be retried. To send it again, run \`${command('events', 'replay', deliveryId, '--to', 'URL')}\`.`,
    );
  }
}

function pendingOf(
  { deliveryId, event, envelopeId, receivedAt }: EventRecord,
  target: string,
  place: JournalPosition,
): PendingForward {
  return { target, deliveryId, event, envelopeId, receivedAt: Date.parse(receivedAt), place };
}
