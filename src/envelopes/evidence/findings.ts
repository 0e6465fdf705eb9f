import type { Envelope } from '../../api/resource-types.ts';
import type { SealWithTrust } from '../../documents/seal/judge.ts';

export interface EvidenceFinding {
  code: 'SEAL_MISSING' | 'SEAL_UNKNOWN' | 'SEAL_TIME';
  message: string;
}

/** The maximum difference between the time of a seal and the envelope's completion, in ms. */
const MAX_DISTANCE_MS = 60 * 60_000;

/** The documents of a completed envelope that must be sealed. */
export const SEALED_KINDS: readonly string[] = ['signed', 'certificate'];

/** A document and its judged seal; null for a file that isn't a PDF. */
export interface SealedDocument {
  what: string | null;
  seal: SealWithTrust | null;
}

/**
 * Returns why the seal of one of the documents doesn't prove what the envelope says, or null if it does. Problems with the seal itself,
 * such as a change, are found earlier.
 */
export function findSealProblem(
  { what, seal }: SealedDocument,
  documents: readonly SealedDocument[],
  envelope: Envelope,
): EvidenceFinding | null {
  if (what === null || !SEALED_KINDS.includes(what)) return null;
  if (seal?.state !== 'intact') return { code: 'SEAL_MISSING', message: 'It has no seal.' };
  return timeFinding(seal, envelope) ?? signerFinding(seal, documents);
}

function timeFinding({ time }: SealWithTrust, { completedAt }: Envelope): EvidenceFinding | null {
  if (time === null || !completedAt) return null;
  const distance = Math.abs(Date.parse(time) - Date.parse(completedAt));
  if (distance <= MAX_DISTANCE_MS) return null;
  const message = `It was sealed at ${time}, but the envelope was completed at ${completedAt}.`;
  return { code: 'SEAL_TIME', message };
}

/**
 * A certificate that nothing on this machine confirms is a finding unless it sealed both documents. With a profile, it would have been
 * pinned then; without one, as in CI, nothing can be pinned.
 */
function signerFinding(
  { trust, subject }: SealWithTrust,
  documents: readonly SealedDocument[],
): EvidenceFinding | null {
  if (trust === 'pinned' || trust === 'trusted') return null;
  if (trust === 'unknown' && sharedSealOf(documents) !== undefined) return null;
  const message = `It was sealed by ${subject ?? 'someone'}, but the certificate was never confirmed.`;
  return { code: 'SEAL_UNKNOWN', message };
}

/** Returns the seal of the signed document if the certificate of completion was sealed with the same certificate. */
export function sharedSealOf(documents: readonly SealedDocument[]): SealWithTrust | undefined {
  const [signed, certificate] = SEALED_KINDS.map(
    (kind) => documents.find(({ what }) => what === kind)?.seal ?? undefined,
  );
  const isShared = signed?.fingerprint != null && signed.fingerprint === certificate?.fingerprint;
  return isShared ? signed : undefined;
}
