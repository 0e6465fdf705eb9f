import type { X509Certificate } from 'node:crypto';
import { isLongEnough } from './algorithms.ts';
import { UnreadableSignatureError } from './asn1.ts';
import { readCertificate, type SigningCertificate } from './certificate.ts';
import type { SealWithSigner } from './check-seal.ts';

/**
 * Returns why no valid path leads from the signer of a seal to one of the authorities, worded after "whose certificate". It doesn't decide
 * anything (trust.ts does).
 */
export function untrustedReason(
  { seal, signer }: Pick<SealWithSigner, 'seal' | 'signer'>,
  authorities: readonly X509Certificate[],
): string {
  const general = 'is not from a trusted authority';
  if (signer === null) return general;
  const at = seal.time === null ? Date.now() : Date.parse(seal.time);
  try {
    const certificate = readCertificate(signer.certificate);
    return (
      purposeReason(certificate) ??
      timeReason(signer.certificate, at) ??
      issuerReason(signer.certificate, [...signer.certificates, ...authorities], authorities) ??
      general
    );
  } catch (error) {
    if (error instanceof UnreadableSignatureError) return general;
    throw error;
  }
}

function purposeReason({ x509, signsDocuments, isForDocuments }: SigningCertificate): string | undefined {
  if (!signsDocuments) return "is not for signing (its key usage doesn't include it)";
  if (!isForDocuments) return "is not for documents (its extended key usage doesn't include them)";
  return isLongEnough(x509.publicKey) ? undefined : 'has a key that is too short';
}

function timeReason({ validFrom, validTo }: X509Certificate, at: number): string | undefined {
  const day = (text: string) => new Date(text).toISOString().slice(0, 10);
  if (at > Date.parse(validTo)) return `expired on ${day(validTo)}, before the file was sealed`;
  if (at < Date.parse(validFrom)) return `is valid only from ${day(validFrom)}, after the file was sealed`;
  return undefined;
}

/** The longest path that is followed. Real ones have two or three certificates. */
const MAX_LENGTH = 8;

/** Follows the issuers that are known, up to the first one that is missing. */
function issuerReason(
  certificate: X509Certificate,
  known: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): string | undefined {
  let child = certificate;
  for (let length = 0; length < MAX_LENGTH; length++) {
    if (authorities.some(({ raw }) => raw.equals(child.raw))) return undefined;
    const issuer = known.find((one) => !one.raw.equals(child.raw) && child.checkIssued(one));
    if (issuer === undefined) break;
    child = issuer;
  }
  const name = /^CN=(.+)$/m.exec(child.issuer)?.[1] ?? child.issuer.replaceAll('\n', ', ');
  return `is not from a trusted authority: the certificate of its issuer, ${name}, is neither in the file nor in --trust`;
}
