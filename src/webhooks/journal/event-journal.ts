import { dayFiles, type JournalPosition, type OnDamage, scanDays } from '../../journal/day-journal.ts';
import { followDays } from '../../journal/follow.ts';
import { readAt, scan } from '../../journal/scan.ts';
import type { Clock } from '../../kernel/clock.ts';
import { EVENTS_FORMAT, type EventRecord } from './record.ts';

/** Called with a warning about each file that has damaged lines. */
export type OnWarning = (message: string) => void;

/** The conditions of a search, all of which must match. */
export interface EventSelection {
  events?: ReadonlySet<string> | undefined;
  envelopeId?: string | undefined;
  /** ms since the epoch */
  since?: number | undefined;
  verified?: boolean | undefined;
}

/** Yields matching records, newest first. Damaged lines are skipped and reported. */
export async function* readEvents(
  folder: string,
  selection: EventSelection = {},
  warn?: OnWarning,
): AsyncGenerator<EventRecord, void, undefined> {
  for (const files of (await dayFiles(folder, selection.since ?? 0)).reverse()) {
    const records: EventRecord[] = [];
    for (const path of files) {
      const { skipped } = await scan({ path, format: EVENTS_FORMAT, damaged: 'skip' }, (record) => {
        if (matches(record, selection)) records.push(record);
      });
      if (skipped > 0) warn?.(damageText({ path, lines: skipped }));
    }
    yield* records.sort((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1));
  }
}

/** Calls `visit` with each record received since a time (ms) and the record's place, in no particular order. */
export function scanEvents(
  folder: string,
  since: number,
  take: (record: EventRecord, place: JournalPosition) => void,
  warn?: OnWarning,
): Promise<void> {
  const ifSince = (record: EventRecord, place: JournalPosition) => {
    if (Date.parse(record.receivedAt) >= since) take(record, place);
  };
  return scanDays(folder, EVENTS_FORMAT, since, ifSince, (damage) => warn?.(damageText(damage)));
}

function damageText({ path, lines }: Parameters<OnDamage>[0]): string {
  const found = lines === 1 ? '1 damaged line was' : `${lines} damaged lines were`;
  return `${found} skipped in ${path}. The webhooks they contained are lost.`;
}

/** Returns the record of a delivery at its place in the journal, or undefined if it was deleted or is damaged. @throws if it can't be read now */
export async function eventAt(place: JournalPosition, deliveryId: string): Promise<EventRecord | undefined> {
  const record = await readAt(place.path, place, EVENTS_FORMAT);
  return record?.deliveryId === deliveryId ? record : undefined;
}

function matches(record: EventRecord, wanted: EventSelection): boolean {
  return (
    (wanted.events === undefined || wanted.events.has(record.event ?? '')) &&
    (wanted.envelopeId === undefined || record.envelopeId === wanted.envelopeId) &&
    (wanted.since === undefined || Date.parse(record.receivedAt) >= wanted.since) &&
    (wanted.verified === undefined || record.verified === wanted.verified)
  );
}

/** Yields deliveries that listeners on this machine receive from now on, until the signal aborts. */
export async function* followEvents(
  folder: string,
  options: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<EventRecord, void, undefined> {
  for await (const record of followDays(folder, EVENTS_FORMAT, options))
    if (record.answer === 200) yield record;
}
