import * as z from 'zod/mini';
import type { JournalFormat } from '../../lines/scan.ts';
import type { Delivery } from '../receive/delivery.ts';
import { readPayload } from '../receive/payload.ts';

const text = z.nullable(z.string());

/** A delivery in the journal, with everything needed to show, check, and resend it. */
const eventRecordSchema = z.object({
  /** The local ID of this delivery. */
  deliveryId: z.string(),
  /** The ID in the payload, or the hash of its bytes. */
  id: z.string(),
  receivedAt: z.string(),
  event: text,
  envelopeId: text,
  status: text,
  signer: text,
  verified: z.boolean(),
  duplicate: z.boolean(),
  reason: text,
  /** The status with which the listener responded. */
  answer: z.number(),
  /** As received, in the original order. */
  headers: z.array(z.tuple([z.string(), z.string()])),
  /** The bytes in base64. Truncated for refused deliveries, because anyone can send those. */
  bodyBase64: z.string(),
  bytes: z.number(),
  /** The names of the addresses to which the delivery is forwarded. */
  targets: z.optional(z.array(z.string())),
});
export type EventRecord = z.infer<typeof eventRecordSchema>;

/** The final outcome of a forward: accepted, refused repeatedly, or too old. */
const outcomeSchema = z.enum(['accepted', 'refused', 'expired']);
export type ForwardOutcome = z.infer<typeof outcomeSchema>;

/** The end of a delivery's forward to one address. A delivery without it is still pending there. */
const forwardEndSchema = z.object({ forwarded: z.string(), target: z.string(), outcome: outcomeSchema });
export type ForwardEnd = z.infer<typeof forwardEndSchema>;

export type JournalEntry = EventRecord | ForwardEnd;

export const EVENTS_FORMAT: JournalFormat<JournalEntry> = {
  kind: 'events',
  version: 1,
  read: (value) => eventRecordSchema.safeParse(value).data ?? forwardEndSchema.safeParse(value).data,
};

export function isEvent(entry: JournalEntry): entry is EventRecord {
  return 'deliveryId' in entry;
}

/** @param targets the names of the addresses to which a later listener has to forward it if this one is killed */
export function recordFromDelivery(delivery: Delivery, targets: readonly string[] = []): EventRecord {
  const { raw, body: _body, timestamp: _timestamp, ...rest } = delivery;
  return {
    ...rest,
    bodyBase64: raw.toString('base64'),
    ...(targets.length > 0 ? { targets: [...targets] } : {}),
  };
}

/** Returns the delivery of a record. The body is that of the stored bytes, which are complete if it was accepted. */
export function deliveryFromEventRecord(record: EventRecord): Delivery {
  const { bodyBase64, targets: _targets, ...kept } = record;
  const raw = Buffer.from(bodyBase64, 'base64');
  const { timestamp = null, body = null } = readPayload(raw) ?? {};
  return { ...kept, timestamp, body, raw };
}
