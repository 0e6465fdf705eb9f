import type { X509Certificate } from 'node:crypto';
import type { CheckedSeal, Seal } from './seal.ts';
import { type Trust, trustIn } from './trust.ts';

/** A seal, and how far the one who sealed is known; the shape of `seal` in JSON. */
export type JudgedSeal = Seal & { trust: Trust | null };

/** By what a signer is known. */
export interface Known {
  authorities: readonly X509Certificate[];
  /** Fingerprints. */
  pinned: readonly string[];
}

export type SealErrorCode =
  | 'SEAL_CHANGED'
  | 'SEAL_EXTENDED'
  | 'SEAL_PARTIAL'
  | 'SEAL_OTHER'
  | 'SEAL_UNREADABLE'
  | 'SEAL_MISSING';

/** What is wrong with a seal. */
export interface SealProblem {
  code: SealErrorCode;
  message: string;
}

/** A paper's seal and, where it must not be believed, why. */
export interface SealVerdict {
  seal: JudgedSeal;
  problem: SealProblem | null;
}

/**
 * Judges the seal of a PDF that was checked. A paper without one is neutral unless a seal is required: the service does not
 * promise one.
 */
export function judgeSeal(checked: CheckedSeal, known: Known, isRequired = false): SealVerdict {
  const seal = { ...checked.seal, trust: trustIn(checked, known) };
  return { seal, problem: problemWith(seal, checked, isRequired) };
}

function problemWith(seal: JudgedSeal, { isSigned }: CheckedSeal, isRequired: boolean): SealProblem | null {
  const says = (code: SealErrorCode, message: string) => ({ code, message });
  const { state, coverage, reason } = seal;
  if (state === 'changed') return says('SEAL_CHANGED', reason ?? 'The file is not what was sealed.');
  if (coverage === 'partial') return says('SEAL_PARTIAL', 'The seal does not cover the whole file.');
  if (coverage === 'extended')
    return says('SEAL_EXTENDED', `Something was added after the file was sealed (${seal.addedBytes} bytes).`);
  if (seal.trust === 'other')
    return says('SEAL_OTHER', `The seal is another than the one first seen: ${seal.subject ?? ''}.`);
  if (state === 'unreadable' && (isSigned || isRequired))
    return says('SEAL_UNREADABLE', reason ?? 'The seal can’t be read.');
  if (state === 'unsigned' && isRequired) return says('SEAL_MISSING', 'The file has no seal.');
  return null;
}
