import type { EnvelopeRecord, HistoryEntry, MailRecord, SignerRecord } from '../../model.ts';
import { DEFAULT_RULES, type ServiceRules } from '../base/choices.ts';
import { invalidState } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import { storageKey } from './document-store.ts';
import { completedEvent, type EventToSend, envelopeEvent, signerEvent } from './events.ts';
import {
  FINALIZING_MS,
  hasTurn,
  isActive,
  isFinalizing,
  lastSignedAt,
  requireOpen,
  requireTurn,
  signerOf,
} from './predicates.ts';

/**
 * A step of the state machine (States and transitions), which consists of pure functions: an envelope, an action, and the time give the
 * next envelope, its events in order, and the emails to send. A refused action throws INVALID_STATE and changes nothing.
 */
export interface LifecycleStep {
  envelope: EnvelopeRecord;
  events: EventToSend[];
  mails: MailDraft[];
}

export interface MailDraft {
  kind: MailRecord['kind'];
  signerId: string;
}

/** A signer's input, and the data from the browser. */
type SignatureInput = { signerId: string } & Pick<SignerRecord, 'values' | 'drawings'>;

export function unchangedStep(envelope: EnvelopeRecord): LifecycleStep {
  return { envelope, events: [], mails: [] };
}

/** Changes DRAFT to SENT. Refuses any other status. */
export function send(envelope: EnvelopeRecord, now: number): LifecycleStep {
  if (envelope.status !== 'DRAFT') throw invalidState('Envelope is not in DRAFT status');
  const at = isoTime(now);
  const sent: EnvelopeRecord = {
    ...envelope,
    status: 'SENT',
    sentAt: at,
    history: record(envelope, at, 'sent'),
  };
  const asked = askNext(sent, at);
  return { ...asked, events: [envelopeEvent('envelope.sent', asked.envelope, at)] };
}

/** Changes any status except COMPLETED, CANCELLED, and EXPIRED to CANCELLED, including drafts and declined envelopes, as in the table. */
export function cancel(envelope: EnvelopeRecord, reason: string | null, now: number): LifecycleStep {
  if (['COMPLETED', 'CANCELLED', 'EXPIRED'].includes(envelope.status))
    throw invalidState(`Envelope is ${envelope.status} and can no longer be cancelled`);
  const at = isoTime(now);
  const cancelled: EnvelopeRecord = {
    ...envelope,
    status: 'CANCELLED',
    history: record(envelope, at, 'cancelled', null, reason),
  };
  return {
    envelope: cancelled,
    events: [envelopeEvent('envelope.cancelled', cancelled, at, { reason })],
    mails: mailsTo(envelope.signers.filter(hasTurnOrSigned), 'cancelled'),
  };
}

/** Sends a reminder to one pending signer, or, if `signerId` is null, to all signers whose turn it is. */
export function remind(envelope: EnvelopeRecord, signerId: string | null, now: number): LifecycleStep {
  const one = signerId === null ? null : signerOf(envelope, signerId);
  if (!isActive(envelope))
    throw invalidState(`Envelope is ${envelope.status}; only active envelopes have reminders`);
  const asked = one === null ? envelope.signers.filter(hasTurn) : [requireTurn(envelope, one)];
  if (asked.length === 0) throw invalidState('No signer is pending');
  const history = recordEach(envelope, isoTime(now), 'reminded', asked);
  return { envelope: { ...envelope, history }, events: [], mails: mailsTo(asked, 'reminder') };
}

/** Records a signer's first view: VIEWED and one event. A later view changes nothing. The envelope keeps its status. */
export function view(envelope: EnvelopeRecord, signerId: string, now: number): LifecycleStep {
  const signer = requireOpen(envelope, signerId);
  if (signer.status === 'VIEWED') return unchangedStep(envelope);
  const at = isoTime(now);
  const viewed = replaceSigner(envelope, { ...signer, status: 'VIEWED' });
  return {
    envelope: { ...viewed, history: record(envelope, at, 'viewed', signerId) },
    events: [signerEvent('envelope.viewed', viewed, signer, at, { viewedAt: at })],
    mails: [],
  };
}

/**
 * Records a signature. The envelope is IN_PROGRESS while others are pending, and COMPLETED after the last one or, if chosen, by `finalize`.
 */
export function sign(
  envelope: EnvelopeRecord,
  { signerId, ...input }: SignatureInput,
  now: number,
  rules: ServiceRules = DEFAULT_RULES,
): LifecycleStep {
  const signer = requireOpen(envelope, signerId);
  const at = isoTime(now);
  const signed: SignerRecord = {
    ...signer,
    status: 'SIGNED',
    signedAt: at,
    ...input,
  };
  const after: EnvelopeRecord = {
    ...replaceSigner(envelope, signed),
    status: 'IN_PROGRESS',
    history: record(envelope, at, 'signed', signer.id),
  };
  const events = [signerEvent('envelope.signed', after, signer, at, { signedAt: at })];
  if (isFinalizing(after) && rules.finalisation === 'at-once') return complete(after, events, at, rules);
  return isFinalizing(after) ? { envelope: after, events, mails: [] } : { ...askNext(after, at), events };
}

/** Completes an envelope that everyone has signed, at the time set for it. */
export function finalize(envelope: EnvelopeRecord, rules: ServiceRules = DEFAULT_RULES): LifecycleStep {
  return complete(envelope, [], isoTime(lastSignedAt(envelope) + FINALIZING_MS), rules);
}

/** Declines as one signer, which ends the envelope: it is DECLINED immediately, and the other signers keep their status. */
export function decline(
  envelope: EnvelopeRecord,
  answer: { signerId: string; reason: string | null },
  now: number,
): LifecycleStep {
  const signer = requireOpen(envelope, answer.signerId);
  const at = isoTime(now);
  const facts = { declinedAt: at, declineReason: answer.reason };
  const declined: EnvelopeRecord = {
    ...replaceSigner(envelope, { ...signer, status: 'DECLINED', ...facts }),
    status: 'DECLINED',
    history: record(envelope, at, 'declined', signer.id, answer.reason),
  };
  return {
    envelope: declined,
    events: [signerEvent('envelope.declined', declined, signer, at, facts)],
    mails: mailsTo(declined.signers.filter(hasTurnOrSigned), 'declined'),
  };
}

/** Expires an active envelope. The time is expiresAt, or the time of sending if that is later. */
export function expire(envelope: EnvelopeRecord): LifecycleStep {
  const at = isoTime(
    Math.max(Date.parse(envelope.expiresAt), Date.parse(envelope.sentAt ?? envelope.createdAt)),
  );
  const expired: EnvelopeRecord = {
    ...envelope,
    status: 'EXPIRED',
    history: record(envelope, at, 'expired'),
  };
  return {
    envelope: expired,
    events: [envelopeEvent('envelope.expired', expired, at)],
    mails: mailsTo(envelope.signers.filter(hasTurn), 'expired'),
  };
}

/** Combines two steps of a request into one, so that both happen or neither. */
export function combineSteps(
  first: LifecycleStep,
  next: (envelope: EnvelopeRecord) => LifecycleStep,
): LifecycleStep {
  const second = next(first.envelope);
  return {
    envelope: second.envelope,
    events: [...first.events, ...second.events],
    mails: [...first.mails, ...second.mails],
  };
}

function complete(
  envelope: EnvelopeRecord,
  events: EventToSend[],
  at: string,
  rules: ServiceRules,
): LifecycleStep {
  const completed: EnvelopeRecord = {
    ...envelope,
    status: 'COMPLETED',
    completedAt: at,
    signedDocumentStorageKey: storageKey(envelope, 'signed'),
    certificateStorageKey: storageKey(envelope, 'certificate'),
    history: record(envelope, at, 'completed'),
  };
  return {
    envelope: completed,
    events: [...events, completedEvent(completed, at, rules)],
    mails: mailsTo(completed.signers, 'completed'),
  };
}

/** Notifies the next signers: all of them in PARALLEL, those with the lowest unsigned order in SEQUENTIAL. */
function askNext(envelope: EnvelopeRecord, at: string): LifecycleStep {
  const unsigned = envelope.signers.filter((signer) => signer.status !== 'SIGNED');
  const turn = Math.min(...unsigned.map((signer) => signer.order));
  const asked = envelope.signers.filter(
    ({ status, order }) => status === 'PENDING' && (envelope.signingOrder === 'PARALLEL' || order === turn),
  );
  return {
    envelope: {
      ...envelope,
      signers: envelope.signers.map((signer) =>
        asked.includes(signer) ? { ...signer, status: 'SENT' } : signer,
      ),
      history: recordEach(envelope, at, 'notified', asked),
    },
    events: [],
    mails: mailsTo(asked, 'request'),
  };
}

function replaceSigner(envelope: EnvelopeRecord, changed: SignerRecord): EnvelopeRecord {
  return {
    ...envelope,
    signers: envelope.signers.map((signer) => (signer.id === changed.id ? changed : signer)),
  };
}

function hasTurnOrSigned(signer: SignerRecord): boolean {
  return hasTurn(signer) || signer.status === 'SIGNED';
}

function mailsTo(signers: readonly SignerRecord[], kind: MailRecord['kind']): MailDraft[] {
  return signers.map(({ id }) => ({ kind, signerId: id }));
}

function recordEach(
  envelope: EnvelopeRecord,
  at: string,
  what: HistoryEntry['what'],
  signers: readonly SignerRecord[],
): HistoryEntry[] {
  return [...envelope.history, ...signers.map(({ id }) => ({ at, what, signerId: id, detail: null }))];
}

function record(
  envelope: EnvelopeRecord,
  at: string,
  what: HistoryEntry['what'],
  signerId: string | null = null,
  detail: string | null = null,
): HistoryEntry[] {
  return [...envelope.history, { at, what, signerId, detail }];
}
