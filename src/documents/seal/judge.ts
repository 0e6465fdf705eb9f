import type { CheckedSeal, Seal } from './seal.ts';
import { type SignerTrust, type TrustedSigners, trustIn } from './trust.ts';

/** A seal, and whether its signer is known; the shape of `seal` in JSON. */
export type JudgedSeal = Seal & { trust: SignerTrust | null };

export type SealErrorCode =
  | 'SEAL_CHANGED'
  | 'SEAL_EXTENDED'
  | 'SEAL_PARTIAL'
  | 'SEAL_OTHER'
  | 'SEAL_UNTRUSTED'
  | 'SEAL_UNREADABLE'
  | 'SEAL_MISSING';

/** A problem of a seal. */
export interface SealProblem {
  code: SealErrorCode;
  message: string;
}

/** A document's seal and, where it fails the check, why. */
export interface SealVerdict {
  seal: JudgedSeal;
  problem: SealProblem | null;
}

/** Whether signed documents of this profile are sealed, as far as is known. */
export function expectsSeals({ pinned, sealedBy = [] }: TrustedSigners): boolean {
  return pinned.length > 0 || sealedBy.length > 0;
}

/** The problem of a file that must be sealed and isn't even a PDF. */
export const NOT_A_PDF: SealProblem = {
  code: 'SEAL_MISSING',
  message: 'The file is not a PDF, so it has no seal.',
};

/**
 * What a document's seal is judged by: `required` where there must be one, `optional` where the service promises none, and
 * `original` for the document before it was signed, which can have a seal by anyone or none.
 */
export type SealRule = 'required' | 'optional' | 'original';

/** Judges the seal of a PDF that was checked. */
export function judgeSeal(
  checked: CheckedSeal,
  known: TrustedSigners,
  rule: SealRule = 'optional',
): SealVerdict {
  const trust = trustIn(checked, rule === 'original' ? { ...known, pinned: [], sealedBy: [] } : known);
  const seal = { ...checked.seal, trust };
  const signer = rule === 'original' ? null : problemWithSigner(seal, known);
  return { seal, problem: problemWith(seal, checked, rule === 'required') ?? signer };
}

function problemWith(seal: JudgedSeal, { isSigned }: CheckedSeal, isRequired: boolean): SealProblem | null {
  const problem = (code: SealErrorCode, message: string) => ({ code, message });
  const { state, coverage, reason } = seal;
  if (state === 'changed')
    return problem('SEAL_CHANGED', reason ?? 'The file was changed after it was sealed.');
  if (coverage === 'partial') return problem('SEAL_PARTIAL', 'The seal does not cover the whole file.');
  if (coverage === 'extended')
    return problem(
      'SEAL_EXTENDED',
      `Something was added after the file was sealed (${seal.addedBytes} bytes).`,
    );
  if (state === 'unreadable' && (isSigned || isRequired))
    return problem('SEAL_UNREADABLE', reason ?? 'The seal can’t be read.');
  if (state === 'unsigned' && isRequired) return problem('SEAL_MISSING', reason ?? 'The file has no seal.');
  return null;
}

/** What is wrong with the signer of an intact seal. */
function problemWithSigner(
  { trust, subject, fingerprint }: JudgedSeal,
  { authorities, sealedBy = [] }: TrustedSigners,
): SealProblem | null {
  if (trust === null) return null;
  const name = subject ?? 'unknown';
  if (sealedBy.length > 0 && !sealedBy.includes(fingerprint ?? ''))
    return {
      code: 'SEAL_UNTRUSTED',
      message: `The seal is by ${name}, whose certificate is not the required one (its SHA-256 is ${fingerprint ?? ''}).`,
    };
  if (trust === 'other')
    return {
      code: 'SEAL_OTHER',
      message: `The seal is by ${name}, which is not the seal first seen with this profile.`,
    };
  if (trust === 'unknown' && authorities.length > 0)
    return {
      code: 'SEAL_UNTRUSTED',
      message: `The seal is by ${name}, who is not certified by a trusted authority.`,
    };
  return null;
}
