import { connectionReason } from '../../kernel/network/unreachable.ts';
import { jsonText } from '../../output/json.ts';
import { indented, withHangingIndent } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { localTime } from '../../output/time.ts';
import type { ForwardResult } from '../forward/send.ts';
import type { Delivery } from '../receive/delivery.ts';

/** Returns a delivery for a JSON line. The body is included as received, or in base64 if it is not JSON text. */
export function deliveryLine(delivery: Delivery): Record<string, unknown> {
  const { id, deliveryId, receivedAt, event, envelopeId, status, verified, duplicate, reason, body, raw } =
    delivery;
  return {
    type: 'delivery',
    id: id || null,
    ...{ deliveryId, receivedAt, event, envelopeId, status, verified, duplicate, reason },
    ...(body === null ? { bodyBase64: raw.toString('base64') } : { body }),
  };
}

/** The columns before the text of a delivery: its time and its mark. */
const TEXT_INDENT = 12;

/** Renders a delivery as a line for people: the event, the envelope, and whether the signature is valid. */
export function renderDelivery(delivery: Delivery, terminal: Terminal): string {
  const { envelopeId, status, signer, verified, duplicate, reason, receivedAt } = delivery;
  if (!terminal.outIsTty) {
    const cells = [
      receivedAt,
      delivery.event,
      envelopeId,
      status,
      verified ? 'verified' : 'unverified',
      reason,
    ];
    return `${cells.map((cell) => safeLine(cell ?? '')).join('\t')}\n`;
  }
  const time = terminal.style('dim', localTime(receivedAt));
  if (reason !== null) {
    const text = indented(`refused: ${safeLine(reason)}${claimedText(delivery)}`, TEXT_INDENT, terminal);
    return `${time}  ${terminal.style('red', '✗')} ${text}\n`;
  }
  const mark = verified ? terminal.style('green', '✓') : terminal.style('yellow', '?');
  const event = terminal.style('bold', safeLine(delivery.event ?? 'unknown event').padEnd(18));
  const rest = [envelopeId, status, signer, duplicate ? '(duplicate)' : null].filter((text) => text !== null);
  const line = withHangingIndent(
    `${time}  ${mark} ${event}`,
    ` ${safeLine(rest.join('  '))}`,
    terminal,
    TEXT_INDENT,
  );
  return `${line}\n`;
}

function claimedText(facts: Delivery): string {
  if (facts.id === '' || (facts.event === null && facts.envelopeId === null)) return '';
  return safeLine(
    ` (claims to be ${facts.event ?? 'an unknown event'} for ${facts.envelopeId ?? 'an unknown envelope'})`,
  );
}

/** Renders an attempt to forward a delivery as a JSON line or a line for people. Includes the URL if there are several. */
export function forwardLine(
  result: ForwardResult,
  terminal: Terminal,
  json: boolean,
  namesUrl = false,
): string {
  if (json) return `${jsonText({ type: 'forward', ...result })}\n`;
  const { id, url, status, error, event, envelopeId, attempt, nextMs } = result;
  if (!terminal.outIsTty) {
    const cells = ['forward', id, url, status, error, event, envelopeId, attempt, nextMs];
    return `${cells.map((cell) => safeLine(String(cell ?? ''))).join('\t')}\n`;
  }
  const mark = terminal.style(error === null ? 'green' : 'red', '→');
  const name = `${event ?? 'unknown event'} ${shortId(envelopeId ?? id)}`;
  const outcome = `${outcomeOf(result)}${namesUrl ? `, by ${url}` : ''}`;
  const head = `${' '.repeat(TEXT_INDENT - 2)}${mark} ${safeLine(name)}`;
  const text = ` ${terminal.style('dim', safeLine(outcome))}`;
  return `${withHangingIndent(head, text, terminal, TEXT_INDENT)}\n`;
}

/** Renders a delivery that a command has sent, which has no other line. */
export function sentDeliveryLine(result: ForwardResult, terminal: Terminal, json: boolean): string {
  if (json || !terminal.outIsTty) return forwardLine(result, terminal, json);
  const { id, error, event, envelopeId } = result;
  const mark = error === null ? terminal.style('green', '✓') : terminal.style('red', '✗');
  const name = `${event ?? 'unknown event'}  ${envelopeId ?? id}`;
  const text = ` ${terminal.style('dim', safeLine(outcomeOf(result)))}`;
  return `${withHangingIndent(`${mark} ${safeLine(name)}`, text, terminal)}\n`;
}

/** Describes an outcome: `responded with 500, attempt 3, next in 15 s` */
function outcomeOf({ attempt, status, ms, error, nextMs }: ForwardResult): string {
  const what = error === null ? `${status ?? ''} in ${ms} ms` : connectionReason(error);
  const tries = attempt > 1 || nextMs !== null ? `, attempt ${attempt}` : '';
  const next = nextMs === null ? '' : `, next in ${nextMs / 1_000} s`;
  return `${what}${tries}${next}`;
}

/** Shortens an ID. The line of the delivery shows the full one. */
function shortId(id: string): string {
  return id.length > 12 ? `${id.slice(0, 8)}…` : id;
}
