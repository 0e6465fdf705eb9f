import { canIndent } from '../../kernel/text/json-text.ts';
import type { ListView } from '../../output/print-list.ts';
import { renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeBlock, safeLine } from '../../output/text.ts';
import { exactTime, relativeTime } from '../../output/time.ts';
import type { EventRecord } from '../journal/record.ts';
import { shownHeaders } from '../receive/headers.ts';
import { readPayload } from '../receive/payload.ts';

/** Returns a record for JSON. The body is included as received, or in base64 if it is not JSON. */
export function eventJson(record: EventRecord): Record<string, unknown> {
  const { bodyBase64, targets: _targets, headers, ...rest } = record;
  const body = bodyOf(record);
  return { ...rest, headers: shownHeaders(headers), ...(body === null ? { bodyBase64 } : { body }) };
}

function bodyOf(record: EventRecord): Record<string, unknown> | null {
  return readPayload(Buffer.from(record.bodyBase64, 'base64'))?.body ?? null;
}

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

/** Renders a delivery: its event, whether it is valid, its headers, and its body. */
export function renderEvent(record: EventRecord, terminal: Terminal): string {
  const facts: [string, string | null][] = [
    ['Delivery', record.deliveryId],
    ['Received', exactTime(record.receivedAt)],
    ['Event', record.event],
    ['Envelope', record.envelopeId],
    ['Status', record.status],
    ['Signer', record.signer],
    ['Verified', record.verified ? 'yes' : `no${record.reason === null ? '' : `: ${record.reason}`}`],
    ['Response', `${record.answer}${record.duplicate ? ', duplicate' : ''}`],
  ];
  const shown = facts.flatMap(([label, value]): [string, string][] =>
    value === null ? [] : [[label, safeLine(value)]],
  );
  const headers = shownHeaders(record.headers, safeLine);
  const body = bodyOf(record);
  const received = Buffer.from(record.bodyBase64, 'base64').toString('utf8');
  const text = body === null || !canIndent(received) ? received : JSON.stringify(body, null, 2);
  return `${renderPairs(shown, terminal)}\n${terminal.style('dim', 'Headers')}\n${renderPairs(headers, terminal, '  ')}\n${terminal.style('dim', 'Body')}\n${safeBlock(text)}\n`;
}
