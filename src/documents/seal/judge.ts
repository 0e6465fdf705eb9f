import type { Seal, SealWithSigner } from './check-seal.ts';
import { type SignerTrust, signerTrustOf, type TrustedSigners } from './trust.ts';
import { untrustedReason } from './untrusted-reason.ts';

/** A seal, and whether its signer is known, in the format of `seal` in JSON. */
export type SealWithTrust = Seal & { trust: SignerTrust | null };

export type SealErrorCode =
  | 'SEAL_CHANGED'
  | 'SEAL_EXTENDED'
  | 'SEAL_OTHER'
  | 'SEAL_UNTRUSTED'
  | 'SEAL_UNREADABLE'
  | 'SEAL_MISSING';

export interface SealProblem {
  code: SealErrorCode;
  message: string;
}

/** Returns true if signed documents are expected to be sealed, because a signer is pinned or required. */
export function expectsSeals({ pin, sealedBy = [] }: TrustedSigners): boolean {
  return pin !== undefined || sealedBy.length > 0;
}

/**
 * The rule for judging a document's seal: `required` if there must be one, `optional` if the service doesn't promise one, and `original`
 * for the document before signing, which can have anyone's seal or none and isn't judged.
 */
export type SealRule = 'required' | 'optional' | 'original';

/**
 * Judges the checked seal of a file; null for a file that isn't a PDF. Returns the seal and, if it fails the check, the problem.
 */
export function judgeSeal(
  checked: SealWithSigner | null,
  known: TrustedSigners,
  rule: SealRule = 'optional',
): { seal: SealWithTrust | null; problem: SealProblem | null } {
  if (checked === null)
    return {
      seal: null,
      problem:
        rule === 'required' ? problem('SEAL_MISSING', 'The file is not a PDF, so it has no seal.') : null,
    };
  if (rule === 'original') {
    const { authorities } = known;
    return { seal: { ...checked.seal, trust: signerTrustOf(checked, { authorities }) }, problem: null };
  }
  const seal = { ...checked.seal, trust: signerTrustOf(checked, known) };
  return { seal, problem: problemWith(seal, known, rule) ?? problemWithSigner(checked, seal, known) };
}

function problem(code: SealErrorCode, message: string): SealProblem {
  return { code, message };
}

function problemWith(seal: SealWithTrust, known: TrustedSigners, rule: SealRule): SealProblem | null {
  const { state, coverage, reason } = seal;
  if (state === 'changed')
    return problem('SEAL_CHANGED', reason ?? 'The file was changed after it was sealed.');
  if (state === 'unreadable') return problem('SEAL_UNREADABLE', reason ?? "The seal can't be read.");
  if (state === 'unsigned')
    return rule === 'required' ? problem('SEAL_MISSING', reason ?? 'The file has no seal.') : null;
  if (coverage === 'whole' || isAccepted(seal, known)) return null;
  return problem('SEAL_EXTENDED', reason ?? 'Data was added after the seal.');
}

/** Returns true if it is enough that the first bytes of a file are sealed. The rest is never judged: anyone can append to a file. */
function isAccepted({ trust }: SealWithTrust, { acceptsExtended }: TrustedSigners): boolean {
  return (
    acceptsExtended === 'all' || (acceptsExtended === 'known' && (trust === 'pinned' || trust === 'trusted'))
  );
}

/** Returns the problem with the signer of an intact seal. */
function problemWithSigner(
  checked: SealWithSigner,
  { trust, subject, fingerprint }: SealWithTrust,
  { authorities, sealedBy = [] }: TrustedSigners,
): SealProblem | null {
  if (trust === null) return null;
  const name = subject ?? 'an unnamed signer';
  if (sealedBy.length > 0 && !sealedBy.includes(fingerprint ?? ''))
    return problem(
      'SEAL_UNTRUSTED',
      `The file was sealed by ${name}, but not with the required certificate (its SHA-256 is ${fingerprint ?? ''}).`,
    );
  if (trust === 'other')
    return problem(
      'SEAL_OTHER',
      `The file was sealed by ${name}, whose certificate is not pinned for this profile.`,
    );
  if (trust === 'unknown' && authorities.length > 0)
    return problem(
      'SEAL_UNTRUSTED',
      `The file was sealed by ${name}, whose certificate ${untrustedReason(checked, authorities)}.`,
    );
  return null;
}
