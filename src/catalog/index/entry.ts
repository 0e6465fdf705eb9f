import type { Envelope } from '../../api/resource-types.ts';
import { timeOf } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { isRecord } from '../../kernel/json.ts';
import { isFinal } from '../../kernel/statuses.ts';
import { readMember, readMembers } from '../../lines/checksummed-line.ts';
import { isWholeItem, searchableTexts } from '../searchable-texts.ts';

/**
 * How much of an envelope is known: only the fields of a list, all fields when it was read, or all fields of an envelope that can't change anymore.
 */
export type KnownPart = 'part' | 'whole' | 'final';

/** The beginning of a line of the index: the fields that are needed of every envelope. */
export interface EntryHead {
  id: string;
  status: string;
  /** ISO 8601; empty if the service left it out. */
  created: string;
  known: KnownPart;
}

/** An envelope as a line of the index. The texts and the envelope come last, so that the head can be parsed without them. */
export interface IndexEntry extends EntryHead {
  /** What a search looks through, folded. */
  texts: string;
  envelope: Envelope;
}

/** Any other line of the index. */
export type IndexEvent =
  /** The service no longer has this envelope. */
  { gone: string } | Completeness;

/** The index contained every envelope of the service. */
export interface Completeness {
  /** When, by this machine's clock. */
  complete: number;
  /** Every envelope created until then, by the service's clock. */
  upTo: number;
  /** How many envelopes it contained. If fewer precede this line, some lines were lost. */
  count: number;
  /** How many more envelopes the service counts than it lists. */
  extra: number;
}

/** Creates the line for an envelope that was just read. `alone`: it was requested by its ID, so no field is missing. */
export function entryOf(envelope: Envelope, alone: boolean): IndexEntry {
  const { id, status, createdAt } = envelope;
  return {
    id,
    status: status ?? '',
    created: createdAt ?? '',
    known: knowledgeOf(envelope, alone),
    texts: searchableTexts(envelope).join('\n'),
    envelope,
  };
}

/** The documents of a completed envelope may arrive a little later; after this time, they are no longer expected. */
const DOCUMENTS_MS = DAY_MS;

function cannotChange(envelope: Envelope): boolean {
  const { status, signedDocumentStorageKey, certificateStorageKey, completedAt } = envelope;
  if (!isFinal(status ?? '')) return false;
  const awaitsDocuments = signedDocumentStorageKey === null || certificateStorageKey === null;
  return status !== 'COMPLETED' || !awaitsDocuments || Date.now() - timeOf(completedAt) > DOCUMENTS_MS;
}

function knowledgeOf(envelope: Envelope, alone: boolean): KnownPart {
  if (!alone && !isWholeItem(envelope)) return 'part';
  // An item of a list may leave the storage keys out.
  const lacksKeys = envelope.status === 'COMPLETED' && envelope.signedDocumentStorageKey === undefined;
  return cannotChange(envelope) && (alone || !lacksKeys) ? 'final' : 'whole';
}

const TEXTS_AT = Buffer.from(',"texts":');
const ENVELOPE_AT = Buffer.from(',"envelope":');

/** Parses the beginning of an intact line: the head of an entry, or an event. Undefined for a line of another version. */
export function readHead(line: Buffer): EntryHead | IndexEvent | undefined {
  const texts = line.indexOf(TEXTS_AT);
  const value = readMembers(line, texts < 0 ? line.lastIndexOf(',"crc":') : texts);
  return isHead(value) || isIndexEvent(value) ? value : undefined;
}

/** Returns true if all of these bytes occur before the envelope. Looks for the envelope last, because most lines lack one. */
export function hasAllTextsBeforeEnvelope(line: Buffer, needles: readonly Buffer[]): boolean {
  return needles.every((needle) => {
    const at = line.indexOf(needle);
    return at >= 0 && at < line.indexOf(ENVELOPE_AT);
  });
}

/**
 * Returns the envelope of an entry's line, without its line break. Its checksum has shown that it was written from a checked envelope,
 * so the fields aren't checked again: there may be a hundred thousand of them.
 */
export function envelopeIn(line: Buffer): Envelope | undefined {
  const at = line.indexOf(ENVELOPE_AT);
  if (at < 0) return undefined;
  const value = readMember(line, at + ENVELOPE_AT.length);
  return isStored(value) ? value : undefined;
}

function isStored(value: unknown): value is Envelope {
  return isRecord(value) && typeof value.id === 'string';
}

/** Checks the head of an entry without a schema, because there may be a hundred thousand of them. */
function isHead(value: unknown): value is EntryHead {
  return (
    isRecord(value) &&
    typeof value.id === 'string' &&
    typeof value.status === 'string' &&
    typeof value.created === 'string' &&
    (value.known === 'part' || value.known === 'whole' || value.known === 'final')
  );
}

function isIndexEvent(value: unknown): value is IndexEvent {
  if (!isRecord(value)) return false;
  if (typeof value.gone === 'string') return true;
  const { complete, upTo, count, extra } = value;
  return [complete, upTo, count, extra].every((one) => typeof one === 'number');
}
