import * as z from 'zod/mini';
import type { JournalFormat } from '../../journal/scan.ts';
import type { Delivery } from '../receive/delivery.ts';

const text = z.nullable(z.string());

/** A delivery in the journal: everything needed to show, recheck, and resend it. */
const eventRecordSchema = z.object({
  /** The ID of this delivery on this machine. */
  deliveryId: z.string(),
  /** The payload's ID, or the hash of its bytes. */
  id: z.string(),
  receivedAt: z.string(),
  event: text,
  envelopeId: text,
  status: text,
  signer: text,
  verified: z.boolean(),
  duplicate: z.boolean(),
  reason: text,
  /** The status of our response. */
  answer: z.number(),
  /** As received, in order. */
  headers: z.array(z.tuple([z.string(), z.string()])),
  /** The bytes in base64; truncated for refused deliveries, which anyone can send. */
  bodyBase64: z.string(),
  bytes: z.number(),
  /** The addresses to forward it to, by their names in the forward journal. */
  owedTo: z.optional(z.array(z.string())),
});
export type EventRecord = z.infer<typeof eventRecordSchema>;

export const EVENTS_FORMAT: JournalFormat<EventRecord> = {
  kind: 'events',
  version: 1,
  read: (value) => {
    const record = eventRecordSchema.safeParse(value);
    return record.success ? record.data : undefined;
  },
};

/** @param owedTo the addresses to forward it to */
export function recordOf(delivery: Delivery, owedTo: readonly string[] = []): EventRecord {
  const { facts, raw, bytes, headers, deliveryId, id, receivedAt } = delivery;
  const { verified, duplicate, reason, answer } = delivery;
  return {
    deliveryId,
    id,
    receivedAt,
    event: facts?.event ?? null,
    envelopeId: facts?.envelopeId ?? null,
    status: facts?.status ?? null,
    signer: facts?.signer ?? null,
    verified,
    duplicate,
    reason,
    answer,
    headers,
    bodyBase64: raw.toString('base64'),
    bytes,
    ...(owedTo.length > 0 ? { owedTo: [...owedTo] } : {}),
  };
}
