import type { EventFacts } from './payload.ts';

/** A request at the webhook path, valid or not. Refused ones are truncated. */
export interface Delivery {
  /** The ID of this delivery on this machine. */
  deliveryId: string;
  id: string;
  receivedAt: string;
  facts: EventFacts | null;
  verified: boolean;
  /** Its ID was accepted before. */
  duplicate: boolean;
  /** Why it was refused, or null. */
  reason: string | null;
  /** The status of our response. */
  answer: number;
  /** The bytes; the first of them if it was refused. */
  raw: Buffer;
  /** The number of bytes received. */
  bytes: number;
  /** As received, in order. */
  headers: [string, string][];
  /** Null if it is not JSON, nested too deep, or truncated. */
  body: Record<string, unknown> | null;
}

const KEPT_BYTES = 4_096;
const KEPT_HEADERS = 50;
const KEPT_CHARACTERS = 200;

/** Truncates a refused delivery. Anyone can send those, and they must not fill memory or disk. */
export function boundedRefusal(delivery: Delivery): Delivery {
  const { facts, raw, headers, body } = delivery;
  const isWhole = raw.byteLength <= KEPT_BYTES;
  return {
    ...delivery,
    id: cut(delivery.id),
    facts: facts && {
      id: cut(facts.id),
      event: cutOrNull(facts.event),
      timestamp: cutOrNull(facts.timestamp),
      envelopeId: cutOrNull(facts.envelopeId),
      status: cutOrNull(facts.status),
      signer: cutOrNull(facts.signer),
    },
    // A copy: a slice would keep the whole buffer in memory.
    raw: isWhole ? raw : Buffer.from(raw.subarray(0, KEPT_BYTES)),
    headers: headers.slice(0, KEPT_HEADERS).map(([name, value]) => [cut(name), cut(value)]),
    body: isWhole ? body : null,
  };
}

function cut(text: string): string {
  return text.length > KEPT_CHARACTERS ? `${text.slice(0, KEPT_CHARACTERS)}…` : text;
}

function cutOrNull(text: string | null): string | null {
  return text === null ? null : cut(text);
}
