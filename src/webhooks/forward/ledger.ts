import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import {
  DayJournal,
  dayFiles,
  type JournalPosition,
  removeOldDays,
  scanDays,
} from '../../journal/day-journal.ts';
import type { JournalFormat } from '../../journal/scan.ts';
import type { Clock } from '../../kernel/clock.ts';
import { lockFile } from '../../kernel/files/lock.ts';
import { type OnWarning, scanEvents } from '../journal/event-journal.ts';
import type { EventRecord } from '../journal/record.ts';

/** The final outcome of a forward: accepted, refused repeatedly, or too old. */
export type ForwardEnd = 'taken' | 'refused' | 'expired';

const finishedSchema = z.object({
  deliveryId: z.string(),
  target: z.string(),
  end: z.enum(['taken', 'refused', 'expired']),
});
type FinishedForward = z.infer<typeof finishedSchema>;

const FORWARDS_FORMAT: JournalFormat<FinishedForward> = {
  kind: 'forwards',
  version: 1,
  read: (value) => finishedSchema.safeParse(value).data,
};

/** Returns the name of an address in journals. It is a hash because an address may contain a secret. */
export function targetName(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 16);
}

/** A delivery that an address has not accepted yet. */
export interface PendingForward extends Pick<EventRecord, 'deliveryId' | 'event' | 'envelopeId'> {
  target: string;
  /** ms since the epoch */
  receivedAt: number;
  place: JournalPosition;
}

/**
 * Records the outcome of forwards. Together with the event journal, where each record lists its target addresses, the ledger shows
 * which forwards are still pending after a listener has stopped or was killed. Only one process at a time forwards the
 * deliveries of a listener: the listener itself while it runs, then the first one started with the same target address.
 */
export class ForwardLedger {
  readonly #folder: string;
  readonly #journal: DayJournal<FinishedForward>;
  /** By listener and address: the function that releases the lock, or undefined if another process holds the lock. */
  readonly #locks = new Map<string, (() => Promise<void>) | undefined>();

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#journal = new DayJournal(folder, FORWARDS_FORMAT, clock);
  }

  /**
   * Locks the deliveries that this listener will receive, so that no other process forwards them.
   * @throws UsageError if the ledger's folder isn't writable.
   */
  async lockOwn(listener: string, targets: readonly string[]): Promise<void> {
    if (targets.length > 0) await this.#journal.open();
    for (const target of targets) await this.#lock(listener, target);
  }

  /**
   * Takes over pending deliveries of earlier listeners for these addresses and returns them, oldest first.
   * @param visit is called with each record, so that the journal is read only once
   */
  async takeOver(
    eventsFolder: string,
    targets: readonly string[],
    since: number,
    visit: (record: EventRecord) => void,
    warn?: OnWarning,
  ): Promise<PendingForward[]> {
    // Lock before reading, so that everything the previous owner wrote is read.
    for (const path of targets.length > 0 ? (await dayFiles(eventsFolder, since)).flat() : [])
      for (const target of targets) await this.#lock(listenerOf(path), target);
    const finished = await this.#readFinished(targets, since);
    const pending: PendingForward[] = [];
    const take = (record: EventRecord, place: JournalPosition) => {
      visit(record);
      const { deliveryId, event, envelopeId, receivedAt } = record;
      for (const target of record.owedTo ?? []) {
        const isLocked = this.#locks.get(lockName(listenerOf(place.path), target)) !== undefined;
        if (isLocked && !finished.has(`${deliveryId} ${target}`))
          pending.push({ target, deliveryId, event, envelopeId, receivedAt: Date.parse(receivedAt), place });
      }
    };
    await scanEvents(eventsFolder, since, take, warn);
    return pending.sort((a, b) => a.receivedAt - b.receivedAt || a.place.start - b.place.start);
  }

  async #readFinished(targets: readonly string[], since: number): Promise<Set<string>> {
    const finished = new Set<string>();
    if (targets.length > 0)
      await scanDays(this.#folder, FORWARDS_FORMAT, since, ({ deliveryId, target }) => {
        if (targets.includes(target)) finished.add(`${deliveryId} ${target}`);
      });
    return finished;
  }

  async recordEnd(deliveryId: string, target: string, end: ForwardEnd): Promise<void> {
    await this.#journal.append({ deliveryId, target, end });
  }

  async close(): Promise<void> {
    await this.#journal.close();
    for (const release of this.#locks.values()) await release?.();
    this.#locks.clear();
  }

  async #lock(listener: string, target: string): Promise<void> {
    const name = lockName(listener, target);
    if (!this.#locks.has(name)) this.#locks.set(name, await tryLock(join(this.#folder, name)));
  }
}

function lockName(listener: string, target: string): string {
  return `${listener}.${target}.lock`;
}

/** Returns the listener that wrote a journal file. The files are named after it. */
function listenerOf(path: string): string {
  return basename(path, '.jsonl');
}

/** Takes a lock. Returns undefined if a running process holds it. */
async function tryLock(path: string): Promise<(() => Promise<void>) | undefined> {
  const taken = new Error('taken');
  try {
    return await lockFile(path, () => taken);
  } catch (error) {
    if (error === taken) return undefined;
    throw error;
  }
}

/** Deletes the days before a time (ms), and the locks of killed listeners that have no events left. */
export async function removeOldForwards(folder: string, eventsFolder: string, before: number): Promise<void> {
  await removeOldDays(folder, before);
  const listeners = new Set((await dayFiles(eventsFolder, 0)).flat().map(listenerOf));
  for (const name of await readdir(folder).catch(() => []))
    if (name.endsWith('.lock') && !listeners.has(name.split('.')[0] ?? ''))
      await (await tryLock(join(folder, name)))?.();
}
