import type { JudgedSeal } from '../../documents/seal/judge.ts';

/** What an evidence package says about a document. */
export interface DocumentFacts {
  what: string | null;
  key: string | null;
  sha256: string | null;
  seal: JudgedSeal | null;
}

export interface EvidenceFinding {
  code: 'SEAL_MISSING' | 'SEAL_UNKNOWN';
  message: string;
}

/** The documents of a completed envelope that must be sealed. */
export const SEALED: readonly string[] = ['signed', 'certificate'];

/**
 * Returns a reason why a document may not hold up, or null. Problems with the seal itself, such as a change, are
 * found earlier.
 */
export function findingOn({ what, seal }: Pick<DocumentFacts, 'what' | 'seal'>): EvidenceFinding | null {
  if (what === null || !SEALED.includes(what)) return null;
  if (seal?.state !== 'intact') return { code: 'SEAL_MISSING', message: 'It has no seal.' };
  if (seal.trust === 'pinned' || seal.trust === 'trusted') return null;
  const message = `It was sealed by ${seal.subject ?? 'someone'}, but the certificate was never confirmed.`;
  return { code: 'SEAL_UNKNOWN', message };
}

/** Keys have the format esign/envelopes/ORG/ENVELOPE/NAME.pdf (Storage). */
const KEY = /^esign\/envelopes\/(?<account>[^/]+)\/[^/]+\/[^/]+$/;

/** Returns the account in the documents' storage keys; null if absent. */
export function accountOf(documents: readonly Pick<DocumentFacts, 'key'>[]): string | null {
  const names = documents.map(({ key }) => KEY.exec(key ?? '')?.groups?.account);
  return names.find((name) => name !== undefined) ?? null;
}
