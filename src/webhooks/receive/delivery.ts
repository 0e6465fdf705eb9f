import { randomUUID } from 'node:crypto';
import { NO_PAYLOAD, type Payload } from './payload.ts';

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

/** The status of the response to an accepted delivery. */
export const ACCEPTED = 200;

/** Returns true for a delivery that was acknowledged, so that the sender doesn't repeat it. */
export function isAccepted({ reason }: Pick<Delivery, 'reason'>): boolean {
  return reason === null;
}

const KEPT_OF_REFUSED_BYTES = 4_096;
const ID_DIGITS = 18;

/**
 * Truncates a refused delivery. Anyone can send those, so they must not fill memory or disk. The fields of a body that is too large are
 * left out, because they may be as large. node:http limits the headers.
 */
export function truncateRefusal(delivery: Delivery): Delivery {
  if (delivery.raw.byteLength <= KEPT_OF_REFUSED_BYTES) return delivery;
  // Copied, because a slice would keep the whole buffer in memory.
  return { ...delivery, ...NO_PAYLOAD, raw: Buffer.from(delivery.raw.subarray(0, KEPT_OF_REFUSED_BYTES)) };
}

/** Returns a new delivery ID. Node makes many random UUIDs together, in a tenth of the time. */
export function newDeliveryId(): string {
  return `dlv_${randomUUID().replaceAll('-', '').slice(0, ID_DIGITS)}`;
}
