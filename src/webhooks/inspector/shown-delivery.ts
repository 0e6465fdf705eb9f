import { isUtf8 } from 'node:buffer';
import { isDeeperThan } from '../../kernel/json.ts';
import type { Redactor } from '../../kernel/redaction.ts';
import { indentJson } from '../../kernel/text/json-text.ts';
import { SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { HEADERS_NOT_FORWARDED } from '../forward/send.ts';
import type { EventRecord } from '../journal/record.ts';
import { isAccepted } from '../receive/delivery.ts';
import { shownHeaders } from '../receive/headers.ts';
import { MAX_INDENTED_LEVELS, readPayload } from '../receive/payload.ts';
import { fixForReason } from '../receive/refusal-texts.ts';
import type { InspectorEntry } from './board.ts';

/** Returns a delivery as shown in the list, with secrets removed. */
export function deliveryRow({ record, passings }: InspectorEntry, redactor: Redactor) {
  const hide = redactorFor(redactor);
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
    // The last attempt for each address.
    passings: [...last.values()].map((passing) => ({ ...passing, url: redactor.redact(passing.url) })),
  };
}

/** Returns the details of a delivery, with secrets removed. */
export function deliveryDetail(
  entry: InspectorEntry,
  around: { redactor: Redactor; targets: readonly string[]; listensAt: string },
) {
  const { record } = entry;
  const { redactor } = around;
  const hide = redactorFor(redactor);
  const body = Buffer.from(record.bodyBase64, 'base64');
  const payload = readPayload(body);
  const text = body.toString('utf8');
  const raw = redactor.redact(text);
  const headers = shownHeaders(record.headers, (text) => redactor.redact(text));
  const isWhole = body.byteLength === record.bytes;
  const url = redactor.redact(around.targets[0] ?? around.listensAt);
  // If a secret was removed from the body, the command contains the redacted body.
  const shown = raw === text ? body : Buffer.from(raw);
  return {
    ...deliveryRow(entry, redactor),
    passings: entry.passings.map((passing) => ({ ...passing, url: redactor.redact(passing.url) })),
    // The time of the event by the service's clock.
    happenedAt: hide(payload?.timestamp ?? null),
    answer: record.answer,
    answeredInMs: entry.answeredInMs,
    verdict: verdictOf(record),
    signature: signatureOf(headers),
    headers,
    bytes: record.bytes,
    // False for refused deliveries, whose bodies are truncated.
    isWhole,
    isText: isUtf8(body),
    raw,
    // Null if the body is not JSON, or is nested so deeply that it would become too large.
    pretty:
      payload === undefined || isDeeperThan(payload.body, MAX_INDENTED_LEVELS)
        ? null
        : redactor.redact(indentJson(text)),
    curl: isWhole && url !== '' ? curlCommand(url, headers, shown) : null,
    noReplay: whyNotReplayable(entry, around.targets),
  };
}

/** Returns why a delivery can't be replayed, or null if it can. */
export function whyNotReplayable({ record }: InspectorEntry, targets: readonly string[]): string | null {
  if (!isAccepted(record)) return "Refused deliveries aren't forwarded.";
  if (targets.length === 0) return 'Start the listener with --forward-to URL to send it to your application.';
  return null;
}

/** Returns true if a delivery matches the filters of the page; an empty one matches all. The text may be anywhere in it. */
export function matchesFilters(
  { record }: InspectorEntry,
  { text, event, state }: { text: string; event: string; state: string },
): boolean {
  if (event !== '' && record.event !== event) return false;
  if (state !== '' && verdictOf(record).state !== state) return false;
  const { deliveryId, envelopeId, status, signer, reason, headers, bodyBase64 } = record;
  const body = Buffer.from(bodyBase64, 'base64').toString('utf8');
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const parts = [deliveryId, record.event, envelopeId, status, signer, reason, body, ...lines];
  return parts.some((part) => part?.toLowerCase().includes(text.trim().toLowerCase()));
}

/** Returns the signature header as received, or null if it was missing. */
function signatureOf(headers: readonly [string, string][]) {
  const found = headers.find(([name]) => name.toLowerCase() === SIGNATURE_HEADER.toLowerCase());
  return found === undefined ? null : { header: found[0], value: found[1] };
}

function redactorFor(redactor: Redactor): (text: string | null) => string | null {
  return (text) => (text === null ? null : redactor.redact(text));
}

/** Characters that are safe between single quotes in a shell and in a terminal. */
const PLAIN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;
const PLAIN_ASCII = /^[\x20-\x7e]*$/;
/** The maximum body size on the command line. Linux allows 128 KiB per argument, but the command should stay readable. */
const MAX_INLINE_BYTES = 16 * 1024;

/** Returns a POSIX shell command that sends a delivery again. */
function curlCommand(url: string, headers: readonly (readonly [string, string])[], body: Uint8Array): string {
  const passed = headers.filter(
    ([name, value]) => !HEADERS_NOT_FORWARDED.has(name.toLowerCase()) && PLAIN_ASCII.test(`${name}${value}`),
  );
  // curl omits a header without a value unless it ends in a semicolon.
  const options = passed.map(
    ([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`,
  );
  const text = Buffer.from(body).toString('utf8');
  const isInline = text.length <= MAX_INLINE_BYTES && PLAIN.test(text) && Buffer.from(text).equals(body);
  // --data-raw doesn't interpret a leading @. Binary bodies are piped.
  const data = isInline ? `--data-raw ${quoted(text)}` : '--data-binary @-';
  const source = isInline ? '' : `printf %s ${Buffer.from(body).toString('base64') || "''"} | base64 -d | `;
  return `${source}${['curl -sS -X POST', quoted(url), ...options, data].join(' \\\n  ')}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether a delivery is valid, why, and how to fix it. */
interface Verdict {
  state: 'verified' | 'unchecked' | 'refused';
  why: string;
  advice: string | null;
}

/** Returns whether a delivery is valid, and why. */
function verdictOf({ verified, reason, duplicate }: EventRecord): Verdict {
  if (reason !== null) return { state: 'refused', why: reason, advice: fixForReason(reason) };
  if (!verified)
    return {
      state: 'unchecked',
      why: 'signatures are not checked',
      advice: 'The listener was started with --no-verify, so anyone who can reach it can send forged events.',
    };
  return {
    state: 'verified',
    why: 'the signature is the HMAC-SHA256 of these bytes with a known secret',
    advice: duplicate ? 'It was received before. The sender repeats a delivery until it gets a 200.' : null,
  };
}
