import type { ListView } from '../../output/print-list.ts';
import { relativeTime } from '../../output/time.ts';

/** Returns the list of webhooks received by listeners on this machine. */
export function eventList(now: number): ListView<Record<string, unknown>> {
  return {
    id: (one) => textOrEmpty(one.deliveryId),
    empty: 'No webhooks received on this machine yet. Start a listener: esign listen',
    columns: [
      {
        key: 'deliveryId',
        header: 'DELIVERY',
        show: (one) => shortDeliveryId(textOrEmpty(one.deliveryId)),
        fixed: true,
      },
      {
        key: 'receivedAt',
        header: 'RECEIVED',
        show: (one) => relativeTime(textOrEmpty(one.receivedAt), now),
      },
      { key: 'event', show: (one) => textOrEmpty(one.event).replace(/^envelope\./, ''), fixed: true },
      { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
      { key: 'verified', show: verdictOf, color: (one) => (one.verified === true ? 'green' : 'red') },
      { key: 'status' },
      { key: 'signer' },
      { key: 'reason', header: 'WHY REFUSED', exactOnly: true },
    ],
  };
}

/** Shortens a delivery ID for a table. `events show` and `replay` accept it. */
export function shortDeliveryId(id: string): string {
  return id.slice(0, 12);
}

/** Describes whether a delivery is valid: `no: the signature header is missing` */
function verdictOf({ verified, reason }: Record<string, unknown>): string {
  return `${verified === true ? 'yes' : 'no'}${textOrEmpty(reason) === '' ? '' : `: ${textOrEmpty(reason)}`}`;
}

/** Returns a value of a record as text, which is empty if it is something else. */
function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
