import type { X509Certificate } from 'node:crypto';
import { hasSafeHash, isLongEnough } from '../algorithms.ts';
import { Element, unreadable } from '../asn1.ts';
import {
  type GeneralName,
  generalNameOf,
  type NameConstraints,
  nameConstraintsOf,
} from './name-constraints.ts';
import { nameOf } from './names.ts';

/** A certificate with the constraints that an authority sets for the certificates below it, and its permitted uses (RFC 5280). */
export interface Certificate {
  x509: X509Certificate;
  subject: readonly string[];
  isSelfIssued: boolean;
  /** Whether the signature uses a hash that is still safe, and whether the key is too long to be broken. */
  isStrong: { signature: boolean; key: boolean };
  isAuthority: boolean;
  /** The maximum number of intermediate authorities below it; undefined if unlimited. */
  pathLength: number | undefined;
  /** The permitted uses of the key; undefined if the certificate doesn't restrict them. */
  keyUsage: { signsDocuments: boolean; signsCertificates: boolean } | undefined;
  /** Whether the extended key usage includes signing documents; true if absent. */
  isForDocuments: boolean;
  names: readonly GeneralName[];
  constraints: NameConstraints | undefined;
  /** Whether it has a critical extension that isn't supported here. */
  hasUnknownCritical: boolean;
}

const OID = {
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  extendedKeyUsage: '2.5.29.37',
  email: '1.2.840.113549.1.9.1',
} as const;

/**
 * Extensions that are checked here, or that can't make a path invalid as long as no certificate requires a policy. Policy constraints
 * (2.5.29.36) can require one and aren't checked, so a critical one is rejected.
 */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.values(OID),
  '2.5.29.14', // subject key identifier
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

interface Extension {
  isCritical: boolean;
  value: Element;
}

/** Reads a certificate. @throws UnreadableSignatureError if it isn't a certificate or repeats an extension. */
export function readCertificate(x509: X509Certificate): Certificate {
  const [tbs, algorithm] = Element.read(x509.raw).parts;
  if (tbs === undefined || algorithm === undefined) throw unreadable('a certificate is incomplete');
  // Version 1 certificates omit the version field [0].
  const fields = tbs.parts[0]?.context === 0 ? tbs.parts.slice(1) : tbs.parts;
  const [, , issuer, , subject] = fields;
  if (issuer === undefined || subject === undefined) throw unreadable('a certificate is incomplete');
  const extensions = extensionsOf(fields);
  const extensionOf = (oid: string) => extensions.get(oid)?.value;
  const basic = extensionOf(OID.basicConstraints);
  const usage = extensionOf(OID.keyUsage);
  const purposes = extensionOf(OID.extendedKeyUsage)?.parts.map(({ oid }) => oid);
  const constraints = extensionOf(OID.nameConstraints);
  const own = nameOf(subject);
  return {
    x509,
    subject: own,
    isSelfIssued: own.join('\n') === nameOf(issuer).join('\n'),
    isStrong: { signature: hasSafeHash(algorithm), key: isLongEnough(x509.publicKey) },
    isAuthority: basic?.parts[0]?.raw.equals(TRUE) === true,
    pathLength: basic?.parts[1]?.integer,
    keyUsage: usage && keyUsageOf(usage),
    isForDocuments: purposes === undefined || purposes.some((oid) => DOCUMENT_PURPOSES.has(oid)),
    names: [
      ...subjectNames(subject),
      ...(extensionOf(OID.subjectAlternativeName)?.parts ?? []).map(generalNameOf),
    ],
    constraints: constraints && nameConstraintsOf(constraints),
    hasUnknownCritical: [...extensions].some(([oid, { isCritical }]) => isCritical && !KNOWN.has(oid)),
  };
}

const TRUE = Buffer.from([0x01, 0x01, 0xff]);

/** Reads the extensions. Each has an identifier, a critical flag (default: false), and its value as bytes. */
function extensionsOf(fields: readonly Element[]): Map<string, Extension> {
  const found = new Map<string, Extension>();
  for (const extension of fields.find(({ context }) => context === 3)?.part(0).parts ?? []) {
    const { oid } = extension.part(0);
    if (found.has(oid)) throw unreadable('a certificate repeats an extension');
    const value = extension.parts.at(-1);
    if (value === undefined) throw unreadable('a certificate is incomplete');
    const isCritical = extension.parts.length === 3 && extension.part(1).raw.equals(TRUE);
    // An unknown extension isn't parsed, because its value can be anything.
    if (KNOWN.has(oid)) found.set(oid, { isCritical, value: Element.read(value.octets) });
    else found.set(oid, { isCritical, value });
  }
  return found;
}

const DIGITAL_SIGNATURE = 0x80;
const NON_REPUDIATION = 0x40;
const CERTIFICATE_SIGN = 0x04;

/** Reads the key usage, a BIT STRING: tag, length, number of unused bits, and the bits, highest first. */
function keyUsageOf({ raw }: Element): Certificate['keyUsage'] {
  const bits = raw[3] ?? 0;
  return {
    signsDocuments: (bits & (DIGITAL_SIGNATURE | NON_REPUDIATION)) !== 0,
    signsCertificates: (bits & CERTIFICATE_SIGN) !== 0,
  };
}

/** Returns the subject as a directory name, and the email addresses in it. */
function subjectNames(subject: Element): GeneralName[] {
  const attributes = subject.parts.flatMap(({ parts }) => parts);
  if (attributes.length === 0) return [];
  const emails = attributes
    .filter((attribute) => attribute.part(0).oid === OID.email)
    .map(
      (attribute): GeneralName => ({ kind: 'email', value: attribute.part(1).content.toString('latin1') }),
    );
  return [{ kind: 'directory', value: nameOf(subject) }, ...emails];
}
