import { timeOf } from '../../kernel/clock.ts';
import { isAccepted } from '../receive/delivery.ts';
import { readPayload } from '../receive/payload.ts';
import { type OnWarning, scanEvents } from './event-journal.ts';
import type { EventRecord } from './record.ts';

/** An event of an envelope that a listener on this machine received. */
export interface WebhookHistoryEntry
  extends Pick<EventRecord, 'receivedAt' | 'event' | 'status' | 'signer' | 'verified' | 'deliveryId'> {
  /** The time of the event by the service's clock, or the time it was received if that is missing. */
  at: string;
}

/** The webhooks for an envelope that listeners on this machine received. */
export interface WebhookHistory {
  /** Oldest first and without repeats. */
  accepted: readonly WebhookHistoryEntry[];
  /** The number of refused deliveries that name the envelope. They are left out because they may be forged. */
  refused: number;
}

/** Returns the webhooks that listeners on this machine received for these envelopes. */
export async function readHistories(
  folder: string,
  ids: ReadonlySet<string>,
  warn?: OnWarning,
): Promise<Map<string, WebhookHistory>> {
  const found = new Map<string, { byId: Map<string, WebhookHistoryEntry>; refused: number }>();
  const take = (record: EventRecord) => {
    const { envelopeId, id, receivedAt } = record;
    if (envelopeId === null || !ids.has(envelopeId)) return;
    const history = found.get(envelopeId) ?? { byId: new Map<string, WebhookHistoryEntry>(), refused: 0 };
    found.set(envelopeId, history);
    if (!isAccepted(record)) {
      history.refused++;
      return;
    }
    const known = history.byId.get(id);
    // The first delivery of an event counts, not its repeats.
    if (known === undefined || receivedAt < known.receivedAt) history.byId.set(id, entryOf(record));
  };
  await scanEvents(folder, 0, take, warn);
  const sorted = [...found].map(([id, { byId, refused }]): [string, WebhookHistory] => [
    id,
    { accepted: [...byId.values()].sort(byTime), refused },
  ]);
  return new Map(sorted);
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
