import { X509Certificate } from 'node:crypto';
import { codeOf, UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { readUserFile } from '../../kernel/files/user-file.ts';
import { isLongEnough } from './algorithms.ts';
import { UnreadableSignatureError } from './asn1.ts';
import { readCertificate, type SigningCertificate } from './certificate.ts';
import type { SealWithSigner } from './check-seal.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Whether the signer is known: pinned when first seen with a profile, as SSH does with hosts, or certified by an authority. */
export type SignerTrust = 'pinned' | 'trusted' | 'unknown' | 'other';

export interface TrustedSigners {
  authorities: readonly X509Certificate[];
  /** The fingerprint of the certificate that is pinned for the profile. */
  pin?: string | undefined;
  /** The fingerprints that the caller requires. No other signer is accepted. */
  sealedBy?: readonly string[];
  /** The signers whose seals may cover only the first bytes of a file, because that part is saved: all, or those pinned or trusted. */
  acceptsExtended?: 'all' | 'known' | undefined;
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
export function signerTrustOf(
  { seal, signer }: SealWithSigner,
  { authorities, pin, sealedBy = [] }: TrustedSigners,
): SignerTrust | null {
  if (seal.state !== 'intact' || seal.fingerprint === null || signer === null) return null;
  if (seal.fingerprint === pin || sealedBy.includes(seal.fingerprint)) return 'pinned';
  const { certificate, certificates } = signer;
  // The time claimed by the signer, because the certificate may have expired since then.
  const at = seal.time === null ? Date.now() : Date.parse(seal.time);
  if (leadsToAuthority({ signer: certificate, others: certificates, authorities, at })) return 'trusted';
  return pin === undefined ? 'unknown' : 'other';
}

/** The maximum length of a certificate path. Real paths have two or three certificates. */
const MAX_PATH_LENGTH = 8;
/**
 * The maximum number of certificate signatures checked per seal. A malicious file can contain any number of certificates that match each
 * other.
 */
const MAX_CHECKS = 200;

interface PathQuestion {
  signer: X509Certificate;
  /** The certificates in the seal, which may be intermediates between the signer and an authority. */
  others: readonly X509Certificate[];
  authorities: readonly X509Certificate[];
  /** The time at which the path must be valid, in ms since the epoch. */
  at: number;
}

/**
 * Returns true if a valid certificate path (RFC 5280, 6) leads from a document signer to one of the authorities. Nothing is fetched, so
 * revocations aren't checked.
 */
export function leadsToAuthority(question: PathQuestion): boolean {
  try {
    return extend([readCertificate(question.signer)], question, { left: MAX_CHECKS });
  } catch (error) {
    if (error instanceof UnreadableSignatureError) return false;
    throw error;
  }
}

function extend(
  path: readonly SigningCertificate[],
  question: PathQuestion,
  checks: { left: number },
): boolean {
  const { others, authorities, at } = question;
  const child = path.at(-1)?.x509;
  if (child === undefined) return false;
  if (authorities.some(({ raw }) => raw.equals(child.raw)) && isValid(path, at)) return true;
  if (path.length > MAX_PATH_LENGTH) return false;
  const isNew = (one: X509Certificate) => path.every(({ x509 }) => !x509.raw.equals(one.raw));
  for (const issuer of [...authorities, ...others]) {
    if (!isNew(issuer) || !issuer.ca || !child.checkIssued(issuer)) continue;
    if (--checks.left < 0) return false;
    if (!child.verify(issuer.publicKey)) continue;
    const certificate = readable(issuer);
    if (certificate !== undefined && extend([...path, certificate], question, checks)) return true;
  }
  return false;
}

/** Reads a certificate. Returns undefined if it is unreadable; another path may still be valid. */
function readable(x509: X509Certificate): SigningCertificate | undefined {
  try {
    return readCertificate(x509);
  } catch (error) {
    if (error instanceof UnreadableSignatureError) return undefined;
    throw error;
  }
}

/** Returns true if a path is valid at a time. The signer comes first, the authority last. */
function isValid(path: readonly SigningCertificate[], at: number): boolean {
  const [signer] = path;
  if (!signer?.isForDocuments || !signer.signsDocuments) return false;
  return path.every((certificate, index) => {
    const isNamedAuthority = index === path.length - 1;
    return (
      isUsable(certificate, at) &&
      // The user named the authority itself, so its own signature and purposes aren't checked.
      (isNamedAuthority || (certificate.hasSafeSignature && certificate.isForDocuments)) &&
      (index === 0 || allowsLength(certificate, path.slice(1, index)))
    );
  });
}

function isUsable({ x509, hasUncheckedExtension }: SigningCertificate, at: number): boolean {
  const isInTime = at >= Date.parse(x509.validFrom) && at <= Date.parse(x509.validTo);
  return isInTime && isLongEnough(x509.publicKey) && !hasUncheckedExtension;
}

/** Returns true if an authority allows these authorities between it and the signer. */
function allowsLength({ pathLength }: SigningCertificate, between: readonly SigningCertificate[]): boolean {
  // Self-issued certificates, for example after a key renewal, don't count (4.2.1.9).
  return pathLength === undefined || between.filter(({ isSelfIssued }) => !isSelfIssued).length <= pathLength;
}
