import { DAY_MS, durationInWords, grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { DayJournal, JournalPosition } from '../../lines/day-journal.ts';
import { type OnWarning, readEvent, scanJournal } from '../journal/event-journal.ts';
import {
  deliveryFromEventRecord,
  type EventRecord,
  type ForwardOutcome,
  isEvent,
  type JournalEntry,
} from '../journal/record.ts';
import { deliveryKey, rememberKey } from '../receive/accepted-deliveries.ts';
import { isAccepted } from '../receive/delivery.ts';
import {
  ForwardQueue,
  type ForwardQueueOptions,
  type OldestForward,
  type PendingForward,
  pendingForward,
  RETRY_PERIOD_MS,
  targetName,
} from './queue.ts';
import { shownUrl } from './send.ts';

/** How long repeated deliveries are recognized. */
const DUPLICATE_WINDOW_MS = DAY_MS;
/** How far back pending forwards are found. Those that have expired are only reported. */
const PENDING_WINDOW_MS = 7 * DAY_MS;
const RETRY_PERIOD = durationInWords(RETRY_PERIOD_MS);

export interface ForwardingOptions extends Pick<ForwardQueueOptions, 'clock' | 'onResult'> {
  urls: readonly string[];
  /** Whether this listener verifies signatures. If so, only verified deliveries are recalled. */
  verify: boolean;
  /** The listener's journal, where outcomes are recorded next to the deliveries. */
  journal: Pick<DayJournal<JournalEntry>, 'append'>;
  warn: (message: string) => void;
}

/**
 * Forwards received deliveries, and those that earlier listeners could not forward to the same addresses. The journal shows what is
 * pending: a delivery names its addresses, and each forward that ended has its own entry.
 */
export class Forwarding {
  readonly #options: ForwardingOptions;
  /** The queue of each address, by its name. */
  readonly #queues: ReadonlyMap<string, ForwardQueue>;

  constructor(options: ForwardingOptions) {
    this.#options = options;
    const read = async (pending: PendingForward) => {
      const record = await readEvent(pending, pending.deliveryId);
      return record && deliveryFromEventRecord(record);
    };
    const queueOf = (url: string) =>
      new ForwardQueue({ ...options, url, read, onEnd: (...end) => this.#ended(url, ...end) });
    this.#queues = new Map(options.urls.map((url) => [targetName(url), queueOf(url)]));
  }

  /** The names of the addresses. */
  get targets(): string[] {
    return [...this.#queues.keys()];
  }

  /** The number of pending forwards; a delivery counts once per address. */
  get pending(): number {
    return [...this.#queues.values()].reduce((sum, { pending }) => sum + pending, 0);
  }

  /** The delivery that has been waiting the longest in this run. */
  get oldest(): OldestForward | undefined {
    const all = [...this.#queues.values()].flatMap(({ oldest }) => oldest ?? []);
    return all.sort((a, b) => b.ms - a.ms)[0];
  }

  /** Reads the pending deliveries and the keys of recent ones from the journal. Returns the keys. */
  async recall(eventsFolder: string, warn: OnWarning): Promise<ReadonlySet<string>> {
    const now = this.#options.clock.now();
    const recent = new Date(now - DUPLICATE_WINDOW_MS).toISOString();
    const seen = new Set<string>();
    /** The pending deliveries of each address; undefined for an end read before its delivery, which is in another listener's file. */
    const found = new Map(
      this.targets.map((target) => [target, new Map<string, PendingForward | undefined>()]),
    );
    const untrusted = new Set<string>();
    const take = (entry: JournalEntry, place: JournalPosition) => {
      if (!isEvent(entry)) {
        const of = found.get(entry.target);
        if (of?.get(entry.forwarded)) of.delete(entry.forwarded);
        else of?.set(entry.forwarded, undefined);
        return;
      }
      const { receivedAt, verified, deliveryId } = entry;
      // Anyone may have sent what an earlier listener didn't verify.
      const isTrusted = verified || !this.#options.verify;
      if (isAccepted(entry) && receivedAt >= recent && isTrusted) rememberKey(seen, deliveryKey(entry));
      if (!isTrusted && entry.targets !== undefined) untrusted.add(deliveryId);
      for (const target of entry.targets ?? []) {
        const of = found.get(target);
        if (of?.delete(deliveryId) === false) of.set(deliveryId, pendingForward(entry, place));
      }
    };
    const since = now - (this.#queues.size > 0 ? PENDING_WINDOW_MS : DUPLICATE_WINDOW_MS);
    await scanJournal(eventsFolder, since, take, warn);
    const skipped = new Set<string>();
    for (const [target, of] of found) {
      const pending = [...of.values()].flatMap((one) => one ?? []);
      pending.sort((a, b) => a.receivedAt - b.receivedAt || a.start - b.start);
      for (const one of pending)
        if (untrusted.has(one.deliveryId)) skipped.add(one.deliveryId);
        else this.#queues.get(target)?.enqueue(one);
    }
    if (skipped.size > 0) warn(skippedText(skipped.size));
    return seen;
  }

  /** Starts forwarding: first the pending deliveries, then those that have arrived since. */
  start(): void {
    for (const queue of this.#queues.values()) queue.start();
  }

  enqueue(record: EventRecord, place: JournalPosition): void {
    for (const target of record.targets ?? [])
      this.#queues.get(target)?.enqueue(pendingForward(record, place));
  }

  /** Waits at most `ms` for open forwards, then stops and reports what is still pending. */
  async stop(ms: number): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.stop(ms)));
    const { pending } = this;
    if (pending === 0) return;
    const what = pending === 1 ? '1 delivery is' : `${grouped(pending)} deliveries are`;
    this.#options.warn(
      `${what} not forwarded yet. The next \`esign listen\` with the same --forward-to continues, for up to ${RETRY_PERIOD} after they were received.`,
    );
  }

  async #ended(
    url: string,
    { deliveryId, envelopeId }: PendingForward,
    outcome: ForwardOutcome,
  ): Promise<void> {
    const { journal, warn } = this.#options;
    const end = { forwarded: deliveryId, target: targetName(url), outcome };
    await journal.append(end).catch((error: unknown) => warn(messageOf(error)));
    if (outcome === 'accepted') return;
    const why = outcome === 'refused' ? 'was refused repeatedly' : `was not accepted within ${RETRY_PERIOD}`;
    warn(
      `Delivery ${deliveryId} for ${envelopeId ?? 'no envelope'} ${why} by ${shownUrl(url)} and won't be retried. To send it again, run \`${command('events', 'replay', deliveryId, '--to', 'URL')}\`.`,
    );
  }
}

function skippedText(count: number): string {
  const what = count === 1 ? '1 pending delivery was' : `${grouped(count)} pending deliveries were`;
  return `${what} received with --no-verify. This listener verifies signatures, so it doesn't forward ${count === 1 ? 'it' : 'them'}.`;
}
