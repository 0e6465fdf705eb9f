import type { Payload } from './payload.ts';

/**
 * A request at the webhook path, valid or not, with the fields of its payload. If the body is not a JSON object, the ID is empty and the
 * other fields are null. Refused deliveries are truncated.
 */
export interface Delivery extends Payload {
  /** The local ID of this delivery. */
  deliveryId: string;
  receivedAt: string;
  verified: boolean;
  /** Whether its ID was accepted before. */
  duplicate: boolean;
  /** Why the delivery was refused, or null if it was accepted. */
  reason: string | null;
  /** The status with which the listener responded. */
  answer: number;
  /** The bytes received. Truncated if the delivery was refused. */
  raw: Buffer;
  /** The number of bytes received. */
  bytes: number;
  /** As received, in the original order. */
  headers: [string, string][];
}

const MAX_BODY_BYTES = 4_096;
const MAX_HEADERS = 50;
const MAX_CHARACTERS = 200;

/** Truncates a refused delivery. Anyone can send those, so they must not fill memory or disk. */
export function boundedRefusal(delivery: Delivery): Delivery {
  const { raw, headers, body } = delivery;
  const isWhole = raw.byteLength <= MAX_BODY_BYTES;
  return {
    ...delivery,
    id: truncate(delivery.id),
    event: truncateOrNull(delivery.event),
    timestamp: truncateOrNull(delivery.timestamp),
    envelopeId: truncateOrNull(delivery.envelopeId),
    status: truncateOrNull(delivery.status),
    signer: truncateOrNull(delivery.signer),
    // Copied, because a slice would keep the whole buffer in memory.
    raw: isWhole ? raw : Buffer.from(raw.subarray(0, MAX_BODY_BYTES)),
    headers: headers.slice(0, MAX_HEADERS).map(([name, value]) => [truncate(name), truncate(value)]),
    body: isWhole ? body : null,
  };
}

function truncate(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

function truncateOrNull(text: string | null): string | null {
  return text === null ? null : truncate(text);
}
