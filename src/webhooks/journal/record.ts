import * as z from 'zod/mini';
import type { JournalFormat } from '../../journal/scan.ts';
import type { Delivery } from '../receive/delivery.ts';
import { readPayload } from '../receive/payload.ts';

/** The event after which an envelope has signed documents. */
export const COMPLETED = 'envelope.completed';

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
  /** The addresses to which the delivery is forwarded, by their names in the forward journal. */
  owedTo: z.optional(z.array(z.string())),
  /** The folder into which the envelope's documents are downloaded. */
  downloadTo: z.optional(z.string()),
});
export type EventRecord = z.infer<typeof eventRecordSchema>;

export const EVENTS_FORMAT: JournalFormat<EventRecord> = {
  kind: 'events',
  version: 1,
  read: (value) => eventRecordSchema.safeParse(value).data,
};

/** @param tasks what a later listener has to do if this one is killed */
export function recordOf(
  delivery: Delivery,
  { owedTo = [], downloadTo }: { owedTo?: string[]; downloadTo?: string | undefined } = {},
): EventRecord {
  const { raw, body: _body, timestamp: _timestamp, ...rest } = delivery;
  return {
    ...rest,
    bodyBase64: raw.toString('base64'),
    ...(owedTo.length > 0 ? { owedTo } : {}),
    ...(downloadTo !== undefined && delivery.verified && delivery.event === COMPLETED ? { downloadTo } : {}),
  };
}

/** Returns the delivery of a record. The body is that of the stored bytes, which are complete if it was accepted. */
export function deliveryOf(record: EventRecord): Delivery {
  const { bodyBase64, owedTo, downloadTo, ...kept } = record;
  const raw = Buffer.from(bodyBase64, 'base64');
  const { timestamp = null, body = null } = readPayload(raw) ?? {};
  return { ...kept, timestamp, body, raw };
}
