import type { CheckedSeal, Seal } from './check-seal.ts';
import { type SignerTrust, type TrustedSigners, trustIn } from './trust.ts';

/** A seal, and whether its signer is known, in the format of `seal` in JSON. */
export type JudgedSeal = Seal & { trust: SignerTrust | null };

export type SealErrorCode =
  | 'SEAL_CHANGED'
  | 'SEAL_EXTENDED'
  | 'SEAL_PARTIAL'
  | 'SEAL_OTHER'
  | 'SEAL_UNTRUSTED'
  | 'SEAL_UNREADABLE'
  | 'SEAL_MISSING';

export interface SealProblem {
  code: SealErrorCode;
  message: string;
}

/** Returns true if signed documents are expected to be sealed, because a signer is pinned or required. */
export function expectsSeals({ pinned, sealedBy = [] }: TrustedSigners): boolean {
  return pinned.length > 0 || sealedBy.length > 0;
}

/** The problem reported for a file that must be sealed but isn't a PDF. */
export const NOT_A_PDF: SealProblem = {
  code: 'SEAL_MISSING',
  message: 'The file is not a PDF, so it has no seal.',
};

/**
 * The rule for judging a document's seal: `required` if there must be one, `optional` if the service doesn't promise one, and `original`
 * for the document before signing, which can have anyone's seal or none.
 */
export type SealRule = 'required' | 'optional' | 'original';

/** Judges the checked seal of a PDF. Returns the seal and, if it fails the check, the problem. */
export function verifySeal(
  checked: CheckedSeal,
  known: TrustedSigners,
  rule: SealRule = 'optional',
): { seal: JudgedSeal; problem: SealProblem | null } {
  const trust = trustIn(checked, rule === 'original' ? { ...known, pinned: [], sealedBy: [] } : known);
  const seal = { ...checked.seal, trust };
  const signer = rule === 'original' ? null : problemWithSigner(seal, known);
  return { seal, problem: problemWith(seal, checked, rule === 'required') ?? signer };
}

function problem(code: SealErrorCode, message: string): SealProblem {
  return { code, message };
}

function problemWith(seal: JudgedSeal, { isSigned }: CheckedSeal, isRequired: boolean): SealProblem | null {
  const { state, coverage, reason } = seal;
  if (state === 'changed')
    return problem('SEAL_CHANGED', reason ?? 'The file was changed after it was sealed.');
  if (coverage === 'partial') return problem('SEAL_PARTIAL', 'The seal does not cover the whole file.');
  if (coverage === 'extended')
    return problem('SEAL_EXTENDED', `Data was added after the file was sealed (${seal.addedBytes} bytes).`);
  if (state === 'unreadable' && (isSigned || isRequired))
    return problem('SEAL_UNREADABLE', reason ?? "The seal can't be read.");
  if (state === 'unsigned' && isRequired) return problem('SEAL_MISSING', reason ?? 'The file has no seal.');
  return null;
}

/** Returns the problem with the signer of an intact seal. */
function problemWithSigner(
  { trust, subject, fingerprint }: JudgedSeal,
  { authorities, sealedBy = [] }: TrustedSigners,
): SealProblem | null {
  if (trust === null) return null;
  const name = subject ?? 'unknown';
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
      `The file was sealed by ${name}, whose certificate is not from a trusted authority.`,
    );
  return null;
}
