import { X509Certificate } from 'node:crypto';
import { codeOf, UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { readUserFile } from '../../kernel/files/user-file.ts';
import { leadsToAuthority } from './chain/path.ts';
import type { CheckedSeal, Seal } from './seal.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Whether the signer is known: pinned when first seen with a profile, as SSH does with hosts, or certified by an authority. */
export type SignerTrust = 'pinned' | 'trusted' | 'unknown' | 'other';

export interface TrustedSigners {
  authorities: readonly X509Certificate[];
  /** The fingerprints pinned for the profile. */
  pinned: readonly string[];
  /** The fingerprints that the caller requires. No other signer is accepted. */
  sealedBy?: readonly string[];
}

/** Returns the authorities in a PEM file. @throws UsageError if it contains none. */
export async function readAuthorities(path: string): Promise<X509Certificate[]> {
  try {
    const found = (await readUserFile(path)).toString('utf8').match(CERTIFICATE) ?? [];
    if (found.length > 0) return found.map((text) => new X509Certificate(text));
  } catch (error) {
    if (error instanceof UsageError || codeOf(error) === undefined) throw error;
    throw new UsageError(`Can't read the authorities from ${path}: ${diskReason(error)}.`, {
      cause: error,
      hint: 'Check the path. The file must be in PEM format (-----BEGIN CERTIFICATE-----).',
    });
  }
  throw new UsageError(`${path} contains no certificate.`, {
    hint: 'It must be in PEM format (-----BEGIN CERTIFICATE-----).',
  });
}

/**
 * Returns how the signer of an intact seal is known: by a pinned fingerprint, or by a valid path to one of the authorities. Returns null
 * for any other seal, because a changed document proves nothing about a signer. Revocations aren't fetched.
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

/** Returns the time claimed by the signer, because the certificate may have expired since then. */
function timeOf({ time }: Seal): number {
  return time === null ? Date.now() : Date.parse(time);
}
