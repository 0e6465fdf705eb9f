import type { Envelope } from '../../api/schemas.ts';
import type { JudgedSeal } from '../../documents/seal/judge.ts';

export interface EvidenceFinding {
  code: 'SEAL_MISSING' | 'SEAL_UNKNOWN' | 'SEAL_TIME';
  message: string;
}

/** The maximum difference between the time of a seal and the envelope's completion, in ms. */
const MAX_DISTANCE_MS = 60 * 60_000;

/** The documents of a completed envelope that must be sealed. */
export const SEALED_KINDS: readonly string[] = ['signed', 'certificate'];

/**
 * Returns why the seal of a document doesn't prove what the envelope says, or null if it does. Problems with the seal itself, such as a
 * change, are found earlier.
 */
export function findingOn(
  { what, seal }: { what: string | null; seal: JudgedSeal | null },
  envelope: Envelope,
): EvidenceFinding | null {
  if (what === null || !SEALED_KINDS.includes(what)) return null;
  if (seal?.state !== 'intact') return { code: 'SEAL_MISSING', message: 'It has no seal.' };
  return timeFinding(seal, envelope) ?? signerFinding(seal);
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
