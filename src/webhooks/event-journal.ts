import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Journal, scan } from '../journal/journal.ts';
import type { Clock } from '../kernel/clock.ts';
import { codeOf } from '../kernel/errors.ts';
import { EVENTS_FORMAT, type EventRecord } from './event-record.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * What listeners of this machine received: a folder a day, in it a file for each listener, so that several write at the
 * same time. A record is on disk when `append` resolves.
 */
export class EventJournal {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #name = `${process.pid}-${randomBytes(4).toString('hex')}.jsonl`;
  #day: string | undefined;
  #journal: Promise<Journal<EventRecord>> | undefined;

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** @throws JournalError or UsageError when it can't be written. */
  async append(record: EventRecord): Promise<void> {
    const journal = await this.#today();
    await journal.append(record);
  }

  async close(): Promise<void> {
    await (await this.#journal)?.close();
  }

  #today(): Promise<Journal<EventRecord>> {
    const day = new Date(this.#clock.now()).toISOString().slice(0, 10);
    if (this.#journal !== undefined && this.#day === day) return this.#journal;
    const before = this.#journal;
    this.#day = day;
    this.#journal = Journal.open<EventRecord>({
      path: join(this.#folder, day, this.#name),
      format: EVENTS_FORMAT,
    });
    void before?.then((journal) => journal.close()).catch(() => undefined);
    return this.#journal;
  }
}

/** Which records are wanted; every given condition must hold. */
export interface EventSelection {
  events?: ReadonlySet<string> | undefined;
  envelopeId?: string | undefined;
  /** ms since the epoch */
  since?: number | undefined;
  verified?: boolean | undefined;
}

/** The records of this machine's journal that fit, the latest first. Damaged lines are left out. */
export async function* readEvents(
  folder: string,
  selection: EventSelection = {},
): AsyncGenerator<EventRecord, void, undefined> {
  const from = selection.since === undefined ? '' : new Date(selection.since).toISOString().slice(0, 10);
  for (const day of (await namesIn(folder)).filter((name) => DAY.test(name) && name >= from).reverse()) {
    const records: EventRecord[] = [];
    for (const name of await namesIn(join(folder, day))) {
      if (!name.endsWith('.jsonl')) continue;
      await scan({ path: join(folder, day, name), format: EVENTS_FORMAT, damaged: 'skip' }, (record) => {
        if (fits(record, selection)) records.push(record);
      });
    }
    yield* records.sort((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1));
  }
}

function fits(record: EventRecord, wanted: EventSelection): boolean {
  return (
    (wanted.events === undefined || wanted.events.has(record.event ?? '')) &&
    (wanted.envelopeId === undefined || record.envelopeId === wanted.envelopeId) &&
    (wanted.since === undefined || Date.parse(record.receivedAt) >= wanted.since) &&
    (wanted.verified === undefined || record.verified === wanted.verified)
  );
}

/** Removes the days before a time (ms). Returns how many. */
export async function forgetEvents(folder: string, before: number): Promise<number> {
  const last = new Date(before).toISOString().slice(0, 10);
  const days = (await namesIn(folder)).filter((name) => DAY.test(name) && name < last);
  for (const day of days) await rm(join(folder, day), { recursive: true, force: true });
  return days.length;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
