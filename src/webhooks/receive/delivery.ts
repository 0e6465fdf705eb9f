import type { EventFacts } from './payload.ts';

/** A request at the webhook path, valid or not. Refused ones are truncated. */
export interface Delivery {
  /** The local ID of this delivery. */
  deliveryId: string;
  id: string;
  receivedAt: string;
  facts: EventFacts | null;
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
  /** Null if the body is not JSON, nested too deeply, or truncated. */
  body: Record<string, unknown> | null;
}

const MAX_BODY_BYTES = 4_096;
const MAX_HEADERS = 50;
const MAX_CHARACTERS = 200;

/** Truncates a refused delivery. Anyone can send those, so they must not fill memory or disk. */
export function boundedRefusal(delivery: Delivery): Delivery {
  const { facts, raw, headers, body } = delivery;
  const isWhole = raw.byteLength <= MAX_BODY_BYTES;
  return {
    ...delivery,
    id: truncate(delivery.id),
    facts: facts && {
      id: truncate(facts.id),
      event: truncateOrNull(facts.event),
      timestamp: truncateOrNull(facts.timestamp),
      envelopeId: truncateOrNull(facts.envelopeId),
      status: truncateOrNull(facts.status),
      signer: truncateOrNull(facts.signer),
    },
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
