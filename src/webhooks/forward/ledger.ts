import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import {
  DayJournal,
  dayFiles,
  forgetDays,
  type OnDamage,
  type Place,
  scanDays,
} from '../../journal/day-journal.ts';
import type { JournalFormat } from '../../journal/scan.ts';
import type { Clock } from '../../kernel/clock.ts';
import { lockFile } from '../../kernel/files/lock.ts';
import { scanEvents } from '../journal/event-journal.ts';
import type { EventRecord } from '../journal/record.ts';

/** How it ended: taken by the address, refused by it again and again, or too old. */
export type ForwardEnd = 'taken' | 'refused' | 'expired';

const settledSchema = z.object({
  deliveryId: z.string(),
  target: z.string(),
  end: z.enum(['taken', 'refused', 'expired']),
});
type Settled = z.infer<typeof settledSchema>;

const FORWARDS_FORMAT: JournalFormat<Settled> = {
  kind: 'forwards',
  version: 1,
  read: (value) => settledSchema.safeParse(value).data,
};

/** The name of an address in journals: it may hold a secret, so it isn't written down itself. */
export function targetName(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 16);
}

/** A delivery that an address has not taken yet. */
export interface Owed {
  target: string;
  deliveryId: string;
  event: string | null;
  envelopeId: string | null;
  /** ms since the epoch */
  receivedAt: number;
  place: Place;
}

/**
 * What became of the deliveries that were to be passed on. With the journal of events, where each record says to whom it
 * is owed, it tells what is left when a listener ends or is killed. What one listener owes is passed on by one at a
 * time: by itself while it lives, then by the first that starts with the same address.
 */
export class ForwardLedger {
  readonly #folder: string;
  readonly #journal: DayJournal<Settled>;
  /** By the listener and the address: whether this process passes on what the one owes to the other. */
  readonly #held = new Map<string, (() => Promise<void>) | undefined>();

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#journal = new DayJournal(folder, FORWARDS_FORMAT, clock);
  }

  /**
   * Says that this listener passes on what it receives itself.
   * @throws UsageError when its folder can't be written.
   */
  async claimOwn(listener: string, targets: readonly string[]): Promise<void> {
    if (targets.length > 0) await this.#journal.open();
    for (const target of targets) await this.#claims(listener, target);
  }

  /**
   * Takes over what listeners that have ended still owe to these addresses, the oldest first.
   * @param visit is handed each record on the way, so that the journal is read once
   */
  async takeOver(
    eventsFolder: string,
    targets: readonly string[],
    since: number,
    visit: (record: EventRecord) => void,
    onDamage?: OnDamage,
  ): Promise<Owed[]> {
    // Claimed before anything is read: what an owner writes before it lets go is then seen.
    for (const path of targets.length > 0 ? (await dayFiles(eventsFolder, since)).flat() : [])
      for (const target of targets) await this.#claims(listenerOf(path), target);
    const settled = await this.#settled(targets, since);
    const owed: Owed[] = [];
    const take = (record: EventRecord, place: Place) => {
      visit(record);
      const { deliveryId, event, envelopeId, receivedAt } = record;
      for (const target of record.owedTo ?? []) {
        const isOurs = this.#held.get(lockName(listenerOf(place.path), target)) !== undefined;
        if (isOurs && !settled.has(`${deliveryId} ${target}`))
          owed.push({ target, deliveryId, event, envelopeId, receivedAt: Date.parse(receivedAt), place });
      }
    };
    await scanEvents(eventsFolder, since, take, onDamage);
    return owed.sort((a, b) => a.receivedAt - b.receivedAt || a.place.start - b.place.start);
  }

  async #settled(targets: readonly string[], since: number): Promise<Set<string>> {
    const settled = new Set<string>();
    if (targets.length > 0)
      await scanDays(this.#folder, FORWARDS_FORMAT, since, ({ deliveryId, target }) => {
        if (targets.includes(target)) settled.add(`${deliveryId} ${target}`);
      });
    return settled;
  }

  async settle(deliveryId: string, target: string, end: ForwardEnd): Promise<void> {
    await this.#journal.append({ deliveryId, target, end });
  }

  async close(): Promise<void> {
    await this.#journal.close();
    for (const release of this.#held.values()) await release?.();
    this.#held.clear();
  }

  async #claims(listener: string, target: string): Promise<void> {
    const name = lockName(listener, target);
    if (!this.#held.has(name)) this.#held.set(name, await lockOrNot(join(this.#folder, name)));
  }
}

function lockName(listener: string, target: string): string {
  return `${listener}.${target}.lock`;
}

/** Its files are called as it is. */
function listenerOf(path: string): string {
  return basename(path, '.jsonl');
}

/** Undefined when a living process holds it. */
async function lockOrNot(path: string): Promise<(() => Promise<void>) | undefined> {
  const taken = new Error('taken');
  try {
    return await lockFile(path, () => taken);
  } catch (error) {
    if (error === taken) return undefined;
    throw error;
  }
}

/** Removes the days before that of a time (ms), and the locks that killed listeners have left whose events are gone. */
export async function forgetForwards(folder: string, eventsFolder: string, before: number): Promise<void> {
  await forgetDays(folder, before);
  const listeners = new Set((await dayFiles(eventsFolder, 0)).flat().map(listenerOf));
  for (const name of await readdir(folder).catch(() => []))
    if (name.endsWith('.lock') && !listeners.has(name.split('.')[0] ?? ''))
      await (await lockOrNot(join(folder, name)))?.();
}
