import { X509Certificate } from 'node:crypto';
import { codeOf, UsageError } from '../../kernel/errors.ts';
import { readUserFile } from '../../kernel/files/user-file.ts';
import { leadsToAuthority } from './chain/path.ts';
import type { CheckedSeal, Seal } from './seal.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Whether the signer is known: first seen with a profile, as SSH does with hosts, or certified by an authority. */
export type SignerTrust = 'pinned' | 'trusted' | 'unknown' | 'other';

/** How signers are known. */
export interface TrustedSigners {
  authorities: readonly X509Certificate[];
  /** Fingerprints of the seals that were first seen with the profile. */
  pinned: readonly string[];
  /** Fingerprints that the caller named: only these may have sealed. */
  sealedBy?: readonly string[];
}

/** The authorities in a PEM file. @throws UsageError when it has none. */
export async function readAuthorities(path: string): Promise<X509Certificate[]> {
  try {
    const found = (await readUserFile(path)).toString('utf8').match(CERTIFICATE) ?? [];
    if (found.length > 0) return found.map((text) => new X509Certificate(text));
  } catch (error) {
    if (error instanceof UsageError || codeOf(error) === undefined) throw error;
    throw new UsageError(`Can't read the authorities from ${path}.`, {
      cause: error,
      hint: 'Check the path and its permissions. The file must be PEM.',
    });
  }
  throw new UsageError(`${path} contains no certificate.`, {
    hint: 'It must be PEM: -----BEGIN CERTIFICATE-----.',
  });
}

/**
 * How far the signer of an intact seal is known: by a pinned fingerprint, else by a valid path to one of the authorities.
 * Null for any other seal: what was changed says nothing about a signer. No revocations are fetched.
 */
export function trustIn(
  { seal, signer }: CheckedSeal,
  { authorities, pinned, sealedBy = [] }: TrustedSigners,
): SignerTrust | null {
  if (seal.state !== 'intact' || seal.fingerprint === null || signer === null) return null;
  if ([...pinned, ...sealedBy].includes(seal.fingerprint)) return 'pinned';
  const { certificate, certificates } = signer;
  const question = { signer: certificate, others: certificates, authorities, at: timeOf(seal) };
  if (leadsToAuthority(question)) return 'trusted';
  return pinned.length > 0 ? 'other' : 'unknown';
}

/** The time that the signer names, since a certificate may have ended meanwhile. */
function timeOf({ time }: Seal): number {
  return time === null ? Date.now() : Date.parse(time);
}
