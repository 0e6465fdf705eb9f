import { timeOf } from '../../kernel/clock.ts';
import { readPayload } from '../receive/payload.ts';
import { type OnWarning, scanEvents } from './event-journal.ts';
import type { EventRecord } from './record.ts';

/** An event of an envelope that a listener on this machine received. */
export interface WebhookHistoryEntry
  extends Pick<EventRecord, 'receivedAt' | 'event' | 'status' | 'signer' | 'verified' | 'deliveryId'> {
  /** The time of the event by the service's clock, or the time it was received if that is missing. */
  at: string;
}

/**
 * Returns the events that listeners on this machine received for these envelopes, oldest first and without repeats. Refused
 * deliveries are left out because they may be forged.
 */
export async function readHistories(
  folder: string,
  ids: ReadonlySet<string>,
  warn?: OnWarning,
): Promise<Map<string, WebhookHistoryEntry[]>> {
  const found = new Map<string, Map<string, WebhookHistoryEntry>>();
  const take = (record: EventRecord) => {
    const { envelopeId, id, reason, receivedAt } = record;
    if (envelopeId === null || reason !== null || !ids.has(envelopeId)) return;
    const entries = found.get(envelopeId) ?? new Map<string, WebhookHistoryEntry>();
    found.set(envelopeId, entries);
    const known = entries.get(id);
    // The first delivery of an event counts, not its repeats.
    if (known === undefined || receivedAt < known.receivedAt) entries.set(id, entryOf(record));
  };
  await scanEvents(folder, 0, take, warn);
  return new Map([...found].map(([id, entries]) => [id, [...entries.values()].sort(byTime)]));
}

/** Returns the time in a webhook's payload, by the service's clock, in ms, or undefined if it is missing. */
export function payloadTimeOf({ bodyBase64 }: EventRecord): number | undefined {
  const at = timeOf(timestampIn(bodyBase64));
  return Number.isNaN(at) ? undefined : at;
}

function timestampIn(bodyBase64: string): string {
  return readPayload(Buffer.from(bodyBase64, 'base64'))?.timestamp ?? '';
}

function entryOf(record: EventRecord): WebhookHistoryEntry {
  const { receivedAt, event, status, signer, verified, deliveryId, bodyBase64 } = record;
  const sentAt = timestampIn(bodyBase64);
  const at = Number.isNaN(Date.parse(sentAt)) ? receivedAt : sentAt;
  return { at, receivedAt, event, status, signer, verified, deliveryId };
}

function byTime(a: WebhookHistoryEntry, b: WebhookHistoryEntry): number {
  return Date.parse(a.at) - Date.parse(b.at) || Date.parse(a.receivedAt) - Date.parse(b.receivedAt);
}
