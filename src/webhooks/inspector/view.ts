import { isUtf8 } from 'node:buffer';
import type { Redactor } from '../../kernel/redaction.ts';
import { canIndent, indentJson } from '../../kernel/text/json-text.ts';
import { shownHeaders } from '../receive/headers.ts';
import { readPayload } from '../receive/payload.ts';
import type { ForwardAttempt, InspectorEntry } from './board.ts';
import { curlCommand } from './curl.ts';
import { type DeliveryState, type Verdict, verdictOf } from './verdict.ts';

/** A delivery in the list. */
export interface InspectorRow {
  id: string;
  receivedAt: string;
  event: string | null;
  envelopeId: string | null;
  status: string | null;
  signer: string | null;
  state: DeliveryState;
  reason: string | null;
  duplicate: boolean;
  /** The last attempt for each address. */
  passings: ForwardAttempt[];
}

/** The details of a delivery. */
export interface Detail extends InspectorRow {
  /** The time of the event by the service's clock. */
  happenedAt: string | null;
  answer: number;
  answeredInMs: number | null;
  verdict: Verdict;
  /** The signature header as received, or null if it was missing. */
  signature: { header: string; value: string } | null;
  headers: [string, string][];
  bytes: number;
  /** False for refused deliveries, whose bodies are truncated. */
  isWhole: boolean;
  isText: boolean;
  raw: string;
  /** Null if the body is not JSON or would become too large. */
  pretty: string | null;
  curl: string | null;
  /** Why the delivery can't be replayed, or null if it can. */
  noReplay: string | null;
}

/** Returns a delivery as shown in the list, with secrets removed. */
export function rowOf({ record, passings }: InspectorEntry, redactor: Redactor): InspectorRow {
  const hide = hiding(redactor);
  const last = new Map(passings.map((passing) => [passing.url, passing]));
  return {
    id: record.deliveryId,
    receivedAt: record.receivedAt,
    event: hide(record.event),
    envelopeId: hide(record.envelopeId),
    status: hide(record.status),
    signer: hide(record.signer),
    state: verdictOf(record).state,
    reason: record.reason,
    duplicate: record.duplicate,
    passings: [...last.values()].map((passing) => ({ ...passing, url: redactor.redact(passing.url) })),
  };
}

/** Returns the details of a delivery, with secrets removed. */
export function detailOf(
  entry: InspectorEntry,
  around: { redactor: Redactor; signatureHeader: string; targets: readonly string[]; listensAt: string },
): Detail {
  const { record } = entry;
  const { redactor } = around;
  const hide = hiding(redactor);
  const body = Buffer.from(record.bodyBase64, 'base64');
  const facts = readPayload(body)?.facts;
  const text = body.toString('utf8');
  const raw = redactor.redact(text);
  const headers = shownHeaders(record.headers).map(([name, value]): [string, string] => [
    redactor.redact(name),
    redactor.redact(value),
  ]);
  const isWhole = body.byteLength === record.bytes;
  const url = redactor.redact(around.targets[0] ?? around.listensAt);
  // If a secret was removed from the body, the command contains the redacted body.
  const shown = raw === text ? body : Buffer.from(raw);
  return {
    ...rowOf(entry, redactor),
    passings: entry.passings.map((passing) => ({ ...passing, url: redactor.redact(passing.url) })),
    happenedAt: hide(facts?.timestamp ?? null),
    answer: record.answer,
    answeredInMs: entry.answeredInMs,
    verdict: verdictOf(record),
    signature: signatureOf(headers, around.signatureHeader),
    headers,
    bytes: record.bytes,
    isWhole,
    isText: isUtf8(body),
    raw,
    pretty: facts === undefined || !canIndent(text) ? null : redactor.redact(indentJson(text)),
    curl: isWhole && url !== '' ? curlCommand(url, headers, shown) : null,
    noReplay: noReplay(entry, around.targets),
  };
}

/** Returns why a delivery can't be replayed, or null if it can. */
export function noReplay({ record }: InspectorEntry, targets: readonly string[]): string | null {
  if (record.reason !== null) return "Refused deliveries aren't forwarded.";
  if (targets.length === 0) return 'Start the listener with --forward-to URL to send it to your application.';
  return null;
}

/** Returns true if the body or a header contains the text. */
export function hasText({ record }: InspectorEntry, text: string): boolean {
  const wanted = text.toLowerCase();
  const has = (part: string) => part.toLowerCase().includes(wanted);
  return (
    has(Buffer.from(record.bodyBase64, 'base64').toString('utf8')) ||
    record.headers.some(([name, value]) => has(`${name}: ${value}`))
  );
}

function signatureOf(headers: readonly [string, string][], wanted: string): Detail['signature'] {
  const found = headers.find(([name]) => name.toLowerCase() === wanted);
  return found === undefined ? null : { header: found[0], value: found[1] };
}

function hiding(redactor: Redactor): (text: string | null) => string | null {
  return (text) => (text === null ? null : redactor.redact(text));
}
