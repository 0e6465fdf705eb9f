import type { Envelope } from '../../api/schemas.ts';
import type { JudgedSeal } from '../../documents/seal/judge.ts';

/** The properties of a document that are checked against its envelope. */
export interface DocumentFacts {
  what: string | null;
  key: string | null;
  sha256: string | null;
  seal: JudgedSeal | null;
}

export interface EvidenceFinding {
  code: 'SEAL_MISSING' | 'SEAL_UNKNOWN' | 'SEAL_TIME' | 'WRONG_DOCUMENT';
  message: string;
}

/** The maximum difference between the time of a seal and the envelope's completion, in ms. */
const MAX_DISTANCE_MS = 60 * 60_000;

/** The documents of a completed envelope that must be sealed. */
export const SEALED: readonly string[] = ['signed', 'certificate'];

/**
 * Returns a reason why a document may not be the envelope's expected document, or null if absent. Problems with the seal itself,
 * such as a change, are found earlier.
 */
export function findingOn(
  document: DocumentFacts,
  envelope: Envelope,
  others: readonly DocumentFacts[],
): EvidenceFinding | null {
  const { what, sha256, seal } = document;
  const other = otherEnvelopeIn(document, envelope.id);
  if (other !== undefined)
    return { code: 'WRONG_DOCUMENT', message: `Its storage key belongs to a different envelope, ${other}.` };
  if (what === null || !SEALED.includes(what)) return null;
  const same = others.find((one) => one.what !== what && sha256 !== null && one.sha256 === sha256);
  if (same !== undefined)
    return {
      code: 'WRONG_DOCUMENT',
      message: `It is the same file as the ${same.what ?? 'other'} document.`,
    };
  if (seal?.state !== 'intact') return { code: 'SEAL_MISSING', message: 'It has no seal.' };
  return timeFinding(seal, envelope) ?? signerFinding(seal);
}

/** Keys have the format esign/envelopes/ORG/ENVELOPE/NAME.pdf (Storage). */
const KEY = /^esign\/envelopes\/(?<account>[^/]+)\/(?<envelope>[^/]+)\/[^/]+$/;

function otherEnvelopeIn({ key }: DocumentFacts, id: string): string | undefined {
  const named = KEY.exec(key ?? '')?.groups?.envelope;
  return named === id ? undefined : named;
}

/** Returns the account in the documents' storage keys; null if absent. */
export function accountOf(documents: readonly Pick<DocumentFacts, 'key'>[]): string | null {
  const names = documents.map(({ key }) => KEY.exec(key ?? '')?.groups?.account);
  return names.find((name) => name !== undefined) ?? null;
}

function timeFinding({ time }: JudgedSeal, { completedAt }: Envelope): EvidenceFinding | null {
  if (time === null || !completedAt) return null;
  const distance = Math.abs(Date.parse(time) - Date.parse(completedAt));
  if (distance <= MAX_DISTANCE_MS) return null;
  const message = `It was sealed at ${time}, but the envelope was completed at ${completedAt}.`;
  return { code: 'SEAL_TIME', message };
}

function signerFinding({ trust, subject }: JudgedSeal): EvidenceFinding | null {
  if (trust === 'pinned' || trust === 'trusted') return null;
  const message = `It was sealed by ${subject ?? 'someone'}, but the certificate was never confirmed.`;
  return { code: 'SEAL_UNKNOWN', message };
}
