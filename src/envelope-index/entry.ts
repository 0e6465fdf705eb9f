import type { Envelope } from '../api/schemas.ts';
import { textsOf } from '../envelopes/match.ts';
import { isAsWritten, readMember } from '../journal/line.ts';
import { timeOf } from '../kernel/clock.ts';
import { isRecord } from '../kernel/json.ts';

/**
 * What is known of an envelope: only what a list shows of it, all of it at the time it was read, or all of it for good.
 */
export type Knowledge = 'part' | 'whole' | 'final';

/** The beginning of a line of the index: what has to be known of every envelope. */
export interface EntryHead {
  id: string;
  status: string;
  /** ISO 8601; empty where the service did not say. */
  created: string;
  known: Knowledge;
  /** When it was read, by this machine's clock. */
  seen: number;
}

/** An envelope as a line of the index; the texts and the envelope stand last, so that the head is read without them. */
export interface Entry extends EntryHead {
  texts: string;
  envelope: Envelope;
}

/** Other lines of the index. */
export type Remark =
  /** The service has it no more. */
  | { gone: string; seen: number }
  /** Something happened to it, as a webhook said. */
  | { touched: string; status: string; seen: number }
  | Completeness;

/** The index knew every envelope of the service. */
export interface Completeness {
  /** When, by this machine's clock. */
  complete: number;
  /** All that were created until then, by the service's clock. */
  upTo: number;
  /** By so many the service's count is higher than what it lists. */
  extra: number;
}

/** What separates the texts of an envelope. */
export const BETWEEN_TEXTS = '\n';

/** The line of an envelope that was just read. `alone`: the service was asked for it by its id, so this is all there is. */
export function entryOf(envelope: Envelope, alone: boolean, seen: number): Entry {
  const { id, status, createdAt } = envelope;
  return {
    id,
    status: status ?? '',
    created: createdAt ?? '',
    known: knowledgeOf(envelope, alone, seen),
    seen,
    texts: textsOf(envelope).join(BETWEEN_TEXTS),
    envelope,
  };
}

/** The papers of a completed envelope may come a little later; after so long nobody waits for them. */
const PAPERS_MS = 86_400_000;
/** States that no envelope leaves (API document, States); a DECLINED one can still be cancelled. */
const LAST = ['COMPLETED', 'CANCELLED', 'EXPIRED'];

/** True when nothing of it will ever change. */
export function isFinal(envelope: Envelope, now: number): boolean {
  const { status, signedDocumentStorageKey, certificateStorageKey, completedAt } = envelope;
  if (!LAST.includes(status ?? '')) return false;
  const waitsForPapers = signedDocumentStorageKey === null || certificateStorageKey === null;
  return status !== 'COMPLETED' || !waitsForPapers || now - timeOf(completedAt) > PAPERS_MS;
}

function knowledgeOf(envelope: Envelope, alone: boolean, now: number): Knowledge {
  if (!alone && !isWholeItem(envelope)) return 'part';
  // An item of a list may leave the storage keys out.
  const lacksKeys = envelope.status === 'COMPLETED' && envelope.signedDocumentStorageKey === undefined;
  return isFinal(envelope, now) && (alone || !lacksKeys) ? 'final' : 'whole';
}

/** True for an item of a list that tells all that words are looked up in, and where each signer stands. */
function isWholeItem({ signers, metadata }: Envelope): boolean {
  return metadata !== undefined && (signers?.every(({ status }) => typeof status === 'string') ?? false);
}

/** Where the envelope begins in the line of an entry. */
export const ENVELOPE_AT = Buffer.from(',"envelope":');

/**
 * Returns the envelope of an entry's line, without its line break; undefined if a byte of it was changed. The checksum shows that
 * it was written from a checked envelope, so the fields aren't checked again: there may be a hundred thousand of them.
 */
export function envelopeIn(line: Buffer): Envelope | undefined {
  const at = line.indexOf(ENVELOPE_AT);
  if (at < 0 || !isAsWritten(line)) return undefined;
  const value = readMember(line, at + ENVELOPE_AT.length);
  return isStored(value) ? value : undefined;
}

function isStored(value: unknown): value is Envelope {
  return isRecord(value) && typeof value.id === 'string';
}

/** The head of an entry; checked by hand, since there may be a hundred thousand of them. */
export function isHead(value: unknown): value is EntryHead {
  return (
    isRecord(value) &&
    typeof value.id === 'string' &&
    typeof value.status === 'string' &&
    typeof value.created === 'string' &&
    typeof value.seen === 'number' &&
    (value.known === 'part' || value.known === 'whole' || value.known === 'final')
  );
}

/** Any other line; undefined when it is none that this version knows. */
export function isRemark(value: unknown): value is Remark {
  if (!isRecord(value)) return false;
  if (typeof value.complete === 'number')
    return typeof value.upTo === 'number' && typeof value.extra === 'number';
  if (typeof value.seen !== 'number') return false;
  return (
    typeof value.gone === 'string' || (typeof value.touched === 'string' && typeof value.status === 'string')
  );
}
