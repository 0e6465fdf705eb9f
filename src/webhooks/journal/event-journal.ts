import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { openRegularFile } from '../../kernel/files/regular-file.ts';
import { readLine } from '../../lines/checksummed-line.ts';
import { type JournalPosition, listDayFiles, type OnDamage, scanDays } from '../../lines/day-journal.ts';
import { followDays } from '../../lines/follow.ts';
import { scan } from '../../lines/scan.ts';
import { isAccepted } from '../receive/delivery.ts';
import { EVENTS_FORMAT, type EventRecord, isEvent, type JournalEntry } from './record.ts';

/** How long deliveries are kept. */
export const RETENTION_MS = 400 * DAY_MS;

/** Called with a warning about each file that has damaged lines. */
export type OnWarning = (message: string) => void;

/** The conditions of a search, all of which must match. */
export interface EventSelection {
  envelopeId?: string | undefined;
  /** ms since the epoch */
  since?: number | undefined;
}

/** The place of a record, and when it was received. */
interface RecordPosition extends JournalPosition {
  receivedAt: string;
}

/**
 * Yields matching records, newest first. Damaged lines are skipped and reported. Only the places of a day's records are kept in memory, so
 * that the list of a busy day stays small.
 */
export async function* readEvents(
  folder: string,
  selection: EventSelection = {},
  warn?: OnWarning,
): AsyncGenerator<EventRecord, void, undefined> {
  for (const files of (await listDayFiles(folder, selection.since ?? 0)).reverse()) {
    const found: RecordPosition[] = [];
    for (const path of files) {
      const { skipped } = await scan({ path, format: EVENTS_FORMAT, damaged: 'skip' }, (entry, span) => {
        if (isEvent(entry) && matches(entry, selection))
          found.push({ path, start: span.start, end: span.end, receivedAt: entry.receivedAt });
      });
      if (skipped > 0) warn?.(damageText({ path, lines: skipped }));
    }
    found.sort((a, b) =>
      a.receivedAt === b.receivedAt ? b.start - a.start : a.receivedAt < b.receivedAt ? 1 : -1,
    );
    yield* recordsAt(found);
  }
}

/** Yields the records at these places. Those that were deleted in the meantime are left out. */
async function* recordsAt(places: readonly RecordPosition[]): AsyncGenerator<EventRecord, void, undefined> {
  const files = new Map<string, FileHandle | undefined>();
  try {
    for (const place of places) {
      if (!files.has(place.path)) files.set(place.path, await openRegularFile(place.path));
      const file = files.get(place.path);
      const record = file && (await readRecord(file, place));
      if (record !== undefined) yield record;
    }
  } finally {
    for (const file of files.values()) await file?.close();
  }
}

/** Calls `take` with each entry since the day of a time (ms) and its place, in no particular order. */
export function scanJournal(
  folder: string,
  since: number,
  take: (entry: JournalEntry, place: JournalPosition) => void,
  warn?: OnWarning,
): Promise<void> {
  return scanDays(folder, EVENTS_FORMAT, since, take, (damage) => warn?.(damageText(damage)));
}

/** Calls `take` with each record received since a time (ms), in no particular order. */
export function scanEvents(
  folder: string,
  since: number,
  take: (record: EventRecord) => void,
  warn?: OnWarning,
): Promise<void> {
  const ifMatching = (entry: JournalEntry) => {
    if (isEvent(entry) && matches(entry, { since })) take(entry);
  };
  return scanJournal(folder, since, ifMatching, warn);
}

function damageText({ path, lines }: Parameters<OnDamage>[0]): string {
  const found = lines === 1 ? '1 damaged line was' : `${lines} damaged lines were`;
  return `${found} skipped in ${path}. The webhooks they contained are lost.`;
}

/** Returns the record of a delivery, or undefined if it was deleted from the journal or is damaged. @throws if it can't be read */
export async function readEvent(
  place: JournalPosition,
  deliveryId: string,
): Promise<EventRecord | undefined> {
  const file = await openRegularFile(place.path);
  if (file === undefined) return undefined;
  try {
    const record = await readRecord(file, place);
    return record?.deliveryId === deliveryId ? record : undefined;
  } finally {
    await file.close();
  }
}

async function readRecord(
  file: FileHandle,
  { start, end }: JournalPosition,
): Promise<EventRecord | undefined> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
  const entry = EVENTS_FORMAT.read(readLine(buffer.subarray(0, Math.max(0, bytesRead - 1))));
  return entry !== undefined && isEvent(entry) ? entry : undefined;
}

function matches(record: EventRecord, { envelopeId, since }: EventSelection): boolean {
  return (
    (envelopeId === undefined || record.envelopeId === envelopeId) &&
    (since === undefined || Date.parse(record.receivedAt) >= since)
  );
}

/** Yields deliveries that listeners on this machine receive from now on, until the signal aborts. */
export async function* followEvents(
  folder: string,
  options: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<EventRecord, void, undefined> {
  for await (const entry of followDays(folder, EVENTS_FORMAT, options))
    if (isEvent(entry) && isAccepted(entry)) yield entry;
}
