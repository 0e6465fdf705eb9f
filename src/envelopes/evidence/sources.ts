import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Envelope } from '../../api/resource-types.ts';
import { type Redactor, redactValue } from '../../kernel/redaction.ts';
import { logFolder } from '../../log/log-folder.ts';
import { readLog, readReminders } from '../../log/read-log.ts';
import { type LogEntry, logEntryOf } from '../../log/shown-entry.ts';
import { type OnWarning, readEvents } from '../../webhooks/journal/event-journal.ts';
import type { EventRecord } from '../../webhooks/journal/record.ts';
import { isAccepted } from '../../webhooks/receive/delivery.ts';
import { shownHeaders } from '../../webhooks/receive/headers.ts';
import { readPayload } from '../../webhooks/receive/payload.ts';
import { SentReminders } from '../sent-reminders.ts';

/** A webhook received on this machine, with the data needed to check its signature. */
export interface EvidenceWebhook {
  deliveryId: string;
  receivedAt: string;
  event: string | null;
  /** The time of the event, from the webhook's payload. */
  happenedAt: string | null;
  status: string | null;
  signer: string | null;
  /** True if its signature was verified when it was received. */
  verified: boolean;
  duplicate: boolean;
  headers: (readonly [string, string])[];
  bytes: number;
  /** The SHA-256 of the body as received. */
  sha256: string;
  /** The body as received; null if it contained a secret. */
  bodyBase64: string | null;
  /** The body without the secret, if it contained one. */
  body: unknown;
}

/** A reminder that was requested on this machine. */
export interface EvidenceReminder {
  at: string;
  /** Null for a reminder to everyone who hadn't signed. */
  signer: string | null;
}

/** A write to the envelope from this machine, as recorded in the log. */
export type EvidenceWrite = Omit<LogEntry, 'envelopeIds' | 'baseUrl'>;

/** Returns the log entries for the envelope, and the one of the bulk run that it belongs to. Other envelopes of the run are omitted. */
export async function readLoggedWrites(
  stateFolder: string,
  baseUrl: string,
  { id, run }: { id: string; run: string | undefined },
): Promise<EvidenceWrite[]> {
  const entries = (await readLog(logFolder(stateFolder))).map(logEntryOf);
  return entries
    .filter((entry) => entry.baseUrl === baseUrl)
    .filter((entry) => entry.envelopeIds.includes(id) || (run !== undefined && entry.run === run))
    .map(({ envelopeIds: _ids, baseUrl: _url, ...write }) => write);
}

/**
 * Returns the webhooks that listeners on this machine accepted for the envelope, oldest first. Rejected ones are left out, because they may
 * be forged.
 */
export async function readReceivedWebhooks(
  stateFolder: string,
  envelopeId: string,
  redactor: Redactor,
  warn?: OnWarning,
): Promise<EvidenceWebhook[]> {
  const kept: EvidenceWebhook[] = [];
  for await (const record of readEvents(join(stateFolder, 'events'), { envelopeId }, warn))
    if (isAccepted(record)) kept.push(keptOf(record, redactor));
  return kept.reverse();
}

/** Returns the reminders that were requested on this machine for an account (a base URL). */
export async function readSentReminders(
  stateFolder: string,
  account: string,
  { id: envelopeId, signers }: Envelope,
): Promise<EvidenceReminder[]> {
  const times = new SentReminders(
    await readReminders(logFolder(stateFolder), account),
    Number.POSITIVE_INFINITY,
  );
  return times.allOf(envelopeId).map(({ at, isForAll, names }) => {
    const { id, email } = signers?.find(names) ?? {};
    return { at: new Date(at).toISOString(), signer: isForAll ? null : (id ?? email ?? 'a signer') };
  });
}

function keptOf(record: EventRecord, redactor: Redactor): EvidenceWebhook {
  const { deliveryId, receivedAt, event, status, signer, verified, duplicate, bytes, bodyBase64 } = record;
  const raw = Buffer.from(bodyBase64, 'base64');
  const body = withoutSecrets(raw, redactor);
  const hidden = (text: string | null) => (text === null ? null : redactor.redact(text));
  return {
    deliveryId,
    receivedAt,
    event: hidden(event),
    happenedAt: hidden(readPayload(raw)?.timestamp ?? null),
    status: hidden(status),
    signer: hidden(signer),
    verified,
    duplicate,
    headers: shownHeaders(record.headers, (text) => redactor.redact(text)),
    bytes,
    sha256: hash('sha256', raw),
    bodyBase64: body === undefined ? bodyBase64 : null,
    body: body ?? null,
  };
}

/** Returns the body without its secrets, or undefined if it has none and can be kept byte for byte. */
function withoutSecrets(raw: Buffer, redactor: Redactor): unknown {
  const text = raw.toString('utf8');
  const hidden = redactor.redact(text);
  const parsed = readPayload(raw)?.body ?? null;
  if (parsed === null) return hidden === text ? undefined : hidden;
  const shown = redactValue(parsed, redactor);
  return hidden === text && JSON.stringify(shown) === JSON.stringify(parsed) ? undefined : shown;
}
