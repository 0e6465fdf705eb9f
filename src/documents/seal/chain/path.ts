import type { X509Certificate } from 'node:crypto';
import { UnreadableSignatureError } from '../asn1.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { areAllowed } from './name-constraints.ts';

/** Certificates between a signer's and the authority's; real paths have two or three. */
const LONGEST_PATH = 8;
/** Signatures of certificates that are checked for one seal: a file can bring any number that fit each other. */
const MAX_CHECKS = 200;

export interface PathQuestion {
  signer: X509Certificate;
  /** Certificates that came with the seal: they may lie between the signer and an authority. */
  others: readonly X509Certificate[];
  authorities: readonly X509Certificate[];
  /** When the path must be valid, in ms since 1970. */
  at: number;
}

/**
 * Whether a valid path of certificates (RFC 5280, 6) leads from a signer of documents to one of the authorities. Nothing is
 * fetched, so revocations don't count.
 */
export function leadsToAuthority(question: PathQuestion): boolean {
  try {
    return extend([readCertificate(question.signer)], question, { left: MAX_CHECKS });
  } catch (error) {
    if (error instanceof UnreadableSignatureError) return false;
    throw error;
  }
}

function extend(path: readonly Certificate[], question: PathQuestion, checks: { left: number }): boolean {
  const { others, authorities, at } = question;
  const child = path.at(-1)?.x509;
  if (child === undefined) return false;
  if (isAmong(child, authorities) && isValid(path, at)) return true;
  if (path.length > LONGEST_PATH) return false;
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

/** One that can't be read leads nowhere; another may. */
function readable(x509: X509Certificate): Certificate | undefined {
  try {
    return readCertificate(x509);
  } catch (error) {
    if (error instanceof UnreadableSignatureError) return undefined;
    throw error;
  }
}

function isAmong(one: X509Certificate, many: readonly X509Certificate[]): boolean {
  return many.some(({ raw }) => raw.equals(one.raw));
}

/** The signer comes first, the authority last. */
function isValid(path: readonly Certificate[], at: number): boolean {
  const [signer] = path;
  if (signer === undefined || !signer.isForDocuments || signer.keyUsage?.signsDocuments === false)
    return false;
  return path.every((certificate, index) => {
    const isNamedAuthority = index === path.length - 1;
    return (
      isUsable(certificate, at) &&
      // The authority itself was named, so nobody has to vouch for it.
      (isNamedAuthority || (certificate.isStrong.signature && certificate.isForDocuments)) &&
      (index === 0 || mayIssue(certificate, path.slice(0, index)))
    );
  });
}

function isUsable({ x509, isStrong, hasUnknownCritical }: Certificate, at: number): boolean {
  const isInTime = at >= Date.parse(x509.validFrom) && at <= Date.parse(x509.validTo);
  return isInTime && isStrong.key && !hasUnknownCritical;
}

/** Whether an authority may issue the certificates `below` it, the signer's first. */
function mayIssue(authority: Certificate, below: readonly Certificate[]): boolean {
  const { isAuthority, keyUsage, pathLength, constraints } = authority;
  // A certificate that is issued to its own issuer, as when a key is renewed, doesn't count (4.2.1.9).
  const between = below.slice(1).filter(({ isSelfIssued }) => !isSelfIssued).length;
  const named = below.filter(({ isSelfIssued }, index) => index === 0 || !isSelfIssued);
  return (
    isAuthority &&
    keyUsage?.signsCertificates !== false &&
    (pathLength === undefined || between <= pathLength) &&
    (constraints === undefined || named.every(({ names }) => areAllowed(names, constraints)))
  );
}
