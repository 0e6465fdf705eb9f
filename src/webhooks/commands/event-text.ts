import { isDeeperThan } from '../../kernel/json.ts';
import { renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeBlock, safeLine } from '../../output/text.ts';
import { exactTime } from '../../output/time.ts';
import type { EventRecord } from '../journal/record.ts';
import { shownHeaders } from '../receive/headers.ts';
import { MAX_INDENTED_LEVELS } from '../receive/payload.ts';
import { bodyOf } from './event-json.ts';

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
  const text =
    body === null || isDeeperThan(body, MAX_INDENTED_LEVELS) ? received : JSON.stringify(body, null, 2);
  return `${renderPairs(shown, terminal)}\n${terminal.style('dim', 'Headers')}\n${renderPairs(headers, terminal, '  ')}\n${terminal.style('dim', 'Body')}\n${safeBlock(text)}\n`;
}
