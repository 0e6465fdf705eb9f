import {
  DayJournal,
  dayFiles,
  forgetDays,
  type OnDamage,
  type Place,
  scanDays,
} from '../../journal/day-journal.ts';
import { followDays } from '../../journal/follow.ts';
import { readAt, scan } from '../../journal/scan.ts';
import type { Clock } from '../../kernel/clock.ts';
import { EVENTS_FORMAT, type EventRecord } from './record.ts';

/** What listeners of this machine received. A record is on disk when `append` resolves. */
export class EventJournal extends DayJournal<EventRecord> {
  constructor(folder: string, clock: Clock) {
    super(folder, EVENTS_FORMAT, clock);
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

/** The records of this machine's journal that match, the latest first. Damaged lines are left out and reported. */
export async function* readEvents(
  folder: string,
  selection: EventSelection = {},
  onDamage?: OnDamage,
): AsyncGenerator<EventRecord, void, undefined> {
  for (const files of (await dayFiles(folder, selection.since ?? 0)).reverse()) {
    const records: EventRecord[] = [];
    for (const path of files) {
      const { skipped } = await scan({ path, format: EVENTS_FORMAT, damaged: 'skip' }, (record) => {
        if (fits(record, selection)) records.push(record);
      });
      if (skipped > 0) onDamage?.({ path, lines: skipped });
    }
    yield* records.sort((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1));
  }
}

/** Hands over each record received since a time (ms) and where it stands, in no particular order; holds none of them. */
export function scanEvents(
  folder: string,
  since: number,
  take: (record: EventRecord, place: Place) => void,
  onDamage?: OnDamage,
): Promise<void> {
  const ifSince = (record: EventRecord, place: Place) => {
    if (Date.parse(record.receivedAt) >= since) take(record, place);
  };
  return scanDays(folder, EVENTS_FORMAT, since, ifSince, onDamage);
}

/** What is reported of a damaged file. */
export function damageText({ path, lines }: Parameters<OnDamage>[0]): string {
  const found = lines === 1 ? '1 damaged line was' : `${lines} damaged lines were`;
  return `${found} left out of ${path}; the webhooks in them are lost.`;
}

/** The record that stands there; undefined when it was removed. */
export function eventAt({ path, start, end }: Place): Promise<EventRecord | undefined> {
  return readAt(path, { start, end }, EVENTS_FORMAT);
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
export function forgetEvents(folder: string, before: number): Promise<number> {
  return forgetDays(folder, before);
}

/** What listeners of this machine take from now on. Ends when its signal aborts. */
export async function* followEvents(
  folder: string,
  options: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<EventRecord, void, undefined> {
  for await (const record of followDays(folder, EVENTS_FORMAT, options))
    if (record.answer === 200) yield record;
}
