import type { EventFacts } from './payload.ts';

/** One request at the webhook path, good or bad. Of a refused one all but the reason is bounded. */
export interface Delivery {
  /** Names this delivery on this machine. */
  deliveryId: string;
  id: string;
  receivedAt: string;
  facts: EventFacts | null;
  verified: boolean;
  /** Accepted before, by its id. */
  duplicate: boolean;
  /** Why it was refused, or null. */
  reason: string | null;
  /** What the sender was told. */
  answer: number;
  /** The bytes; of a refused one the first of them. */
  raw: Buffer;
  /** How many came. */
  bytes: number;
  /** As they came, in order. */
  headers: [string, string][];
  /** Null when it is not JSON, nested too deep, or cut. */
  body: Record<string, unknown> | null;
}

const KEPT_BYTES = 4_096;
const KEPT_HEADERS = 50;
const KEPT_CHARACTERS = 200;

/** What is kept of a refused delivery. Anybody can send those: they shall fill neither memory nor disk. */
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
    // A copy: a part would keep the whole in memory.
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
