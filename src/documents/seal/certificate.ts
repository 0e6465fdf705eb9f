import type { X509Certificate } from 'node:crypto';
import { hasSafeHash } from './algorithms.ts';
import { Element, unreadableError } from './asn1.ts';

/** A certificate, and what Node doesn't show of it: its permitted uses, and what it requires of the certificates below it (RFC 5280). */
export interface SigningCertificate {
  x509: X509Certificate;
  isSelfIssued: boolean;
  /** Whether its own signature uses a hash that is still safe. */
  hasSafeSignature: boolean;
  /** The maximum number of intermediate authorities below it; undefined if unlimited. */
  pathLength: number | undefined;
  /** Whether the key may sign documents; true if the key usage is absent. */
  signsDocuments: boolean;
  /** Whether the extended key usage includes signing documents; true if absent. */
  isForDocuments: boolean;
  /** Whether it has an extension that isn't checked here and must not be ignored. */
  hasUncheckedExtension: boolean;
}

const OID = {
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  extendedKeyUsage: '2.5.29.37',
} as const;

/**
 * Extensions that are checked here, or that can't make a path invalid as long as no certificate requires a policy. Policy constraints
 * (2.5.29.36) can require one and aren't checked, so a critical one is rejected.
 */
const KNOWN: ReadonlySet<string> = new Set([
  OID.keyUsage,
  OID.basicConstraints,
  OID.extendedKeyUsage,
  '2.5.29.14', // subject key identifier
  '2.5.29.17', // subject alternative name
  '2.5.29.35', // authority key identifier
  '2.5.29.18', // issuer alternative name
  '2.5.29.31', // CRL distribution points; none are fetched
  '2.5.29.32', // certificate policies
  '2.5.29.33', // policy mappings
  '2.5.29.54', // inhibit any policy
]);

/** Extended key usages that include signing documents: any, email, and the document usages of IETF, Adobe, and Microsoft. */
const DOCUMENT_PURPOSES: ReadonlySet<string> = new Set([
  '2.5.29.37.0',
  '1.3.6.1.5.5.7.3.4',
  '1.3.6.1.5.5.7.3.36',
  '1.2.840.113583.1.1.5',
  '1.3.6.1.4.1.311.10.3.12',
]);

/** Reads a certificate. @throws UnreadableSignatureError if it isn't a certificate or repeats an extension. */
export function readCertificate(x509: X509Certificate): SigningCertificate {
  const [tbs, algorithm] = Element.read(x509.raw).parts;
  if (tbs === undefined || algorithm === undefined) throw unreadableError('a certificate is incomplete');
  const fields = certificateFields(tbs);
  const [, , issuer, , subject] = fields;
  if (issuer === undefined || subject === undefined) throw unreadableError('a certificate is incomplete');
  const extensions = extensionsOf(fields);
  const contentOf = (oid: string) => {
    const value = extensions.get(oid)?.value;
    return value && Element.read(value);
  };
  const usage = contentOf(OID.keyUsage);
  const purposes = contentOf(OID.extendedKeyUsage)?.parts.map(({ oid }) => oid);
  const isUnchecked = ([oid, { isCritical }]: [string, Extension]) =>
    // Even if it isn't critical, its authority may not certify every name.
    oid === OID.nameConstraints || (isCritical && !KNOWN.has(oid));
  return {
    x509,
    isSelfIssued: issuer.raw.equals(subject.raw),
    hasSafeSignature: hasSafeHash(algorithm),
    pathLength: contentOf(OID.basicConstraints)?.parts[1]?.integer,
    signsDocuments: usage === undefined || signsDocuments(usage),
    isForDocuments: purposes === undefined || purposes.some((oid) => DOCUMENT_PURPOSES.has(oid)),
    hasUncheckedExtension: [...extensions].some(isUnchecked),
  };
}

/** Returns the fields of a certificate without the version [0], which certificates of version 1 omit. */
export function certificateFields(tbs: Element): readonly Element[] {
  return tbs.parts[0]?.context === 0 ? tbs.parts.slice(1) : tbs.parts;
}

interface Extension {
  isCritical: boolean;
  value: Buffer;
}

const TRUE = Buffer.from([0x01, 0x01, 0xff]);

/** Returns the extensions, by their identifiers. Each has a critical flag (default: false), and its value as bytes. */
export function extensionsOf(fields: readonly Element[]): Map<string, Extension> {
  const found = new Map<string, Extension>();
  for (const extension of fields.find(({ context }) => context === 3)?.part(0).parts ?? []) {
    const { oid } = extension.part(0);
    if (found.has(oid)) throw unreadableError('a certificate repeats an extension');
    const value = extension.part(extension.parts.length - 1).octets;
    found.set(oid, { isCritical: extension.parts.length === 3 && extension.part(1).raw.equals(TRUE), value });
  }
  return found;
}

const DIGITAL_SIGNATURE = 0x80;
const NON_REPUDIATION = 0x40;

/** Reads the key usage, a BIT STRING: tag, length, number of unused bits, and the bits, highest first. */
function signsDocuments({ raw }: Element): boolean {
  return ((raw[3] ?? 0) & (DIGITAL_SIGNATURE | NON_REPUDIATION)) !== 0;
}
