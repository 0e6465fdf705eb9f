import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { algorithmIdentifier, digestAlgorithmOf, hashNameOf, isValidSignature } from './algorithms.ts';
import { Element, unreadableError, type ValueBudget } from './asn1.ts';
import { certificateFields, extensionsOf } from './certificate.ts';

const OID = {
  signedData: '1.2.840.113549.1.7.2',
  data: '1.2.840.113549.1.7.1',
  timeStamp: '1.2.840.113549.1.9.16.1.4',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  keyIdentifier: '2.5.29.14',
} as const;

/** A signature or a timestamp: SignedData (RFC 5652, 5.1), of which only the outside has been read. */
export interface SignedData {
  /** A detached signature, or a timestamp (RFC 3161), which shows when, not who: anyone can get one. */
  kind: 'signature' | 'timestamp';
  version: Element | undefined;
  hashes: Element | undefined;
  signers: readonly Element[];
  certificates: readonly Element[];
}

/** A detached CMS signature, and who made it. */
export interface SignedContent {
  /** Node's name for the hash algorithm of the content. */
  hash: string;
  certificate: X509Certificate;
  certificates: readonly X509Certificate[];
  /** The time claimed by the signer, ISO 8601. */
  time: string | undefined;
  /** Returns true if the signature is valid and covers content with this digest. */
  isGood(digest: Buffer): boolean;
}

/**
 * Opens SignedData in BER or DER, which only zeros may follow.
 * @throws UnreadableSignatureError if it is neither a detached signature nor a timestamp. A signature that contains content proves only
 * that content, which need not be the file.
 */
export function openSignedData(contents: Buffer, left: ValueBudget): SignedData {
  const { element: outer, length } = Element.readFirst(contents, left);
  if (contents.subarray(length).some((byte) => byte !== 0))
    throw unreadableError('data follows its CMS structure, as in some encrypted files');
  if (outer.as('sequence').part(0).oid !== OID.signedData || outer.part(1).context !== 0)
    throw unreadableError('its CMS structure is not SignedData');
  const [version, hashes, content, ...rest] = outer.part(1).part(0).as('sequence').parts;
  if (content === undefined) throw unreadableError('its CMS structure is incomplete');
  const type = content.as('sequence').part(0).oid;
  const isDetached = content.parts.length === 1;
  const kind =
    type === OID.data && isDetached
      ? 'signature'
      : type === OID.timeStamp && !isDetached
        ? 'timestamp'
        : null;
  if (kind === null)
    throw unreadableError(
      isDetached
        ? `its content type is not supported (${type})`
        : 'its CMS structure includes the signed content',
    );
  const certificates = rest.find(({ context }) => context === 0)?.parts ?? [];
  return { kind, version, hashes, signers: rest.at(-1)?.as('set').parts ?? [], certificates };
}

/** Reads a signature. @throws UnreadableSignatureError for an unreadable or unsupported one. */
export function readSignature({ version, hashes, signers, ...data }: SignedData): SignedContent {
  const [signer] = signers;
  if (signer === undefined || signers.length !== 1)
    throw unreadableError('it does not have exactly one signer');
  // Exactly the one that is used, because nothing signs this list.
  const [announced, ...unused] =
    hashes?.as('set').parts.map((one) => digestAlgorithmOf(one).part(0).oid) ?? [];
  const isAnnounced = unused.length === 0 && announced === signer.part(2).part(0).oid;
  if (!isAnnounced || ![1, 3, 4, 5].includes(version?.integer ?? 0))
    throw unreadableError('its CMS structure is inconsistent');
  return readSigner(signer, data.certificates.map(certificateOf));
}

/** Reads a SignerInfo: version, signer, hash, [0] signed attributes, algorithm, signature. */
function readSigner(signer: Element, certificates: readonly Certificate[]): SignedContent {
  const [version, who, digestAlgorithm, signed, algorithm, value] = signer.as('sequence').parts;
  if (who === undefined || digestAlgorithm === undefined || signed?.context !== 0)
    throw unreadableError('its CMS structure has no signed attributes');
  if (algorithm === undefined || value === undefined)
    throw unreadableError('its CMS structure is incomplete');
  if (version?.integer !== (who.context === 0 ? 3 : 1))
    throw unreadableError('its CMS structure is inconsistent');
  if (who.context !== 0) who.as('sequence');
  const attributes = attributesOf(signed);
  const signedDigest = attributes.get(OID.messageDigest)?.octets;
  if (signedDigest === undefined || attributes.get(OID.contentType)?.oid !== OID.data)
    throw unreadableError('its signed attributes do not match its content');
  const own = certificates.find((one) => isSigner(one, who));
  if (own === undefined) throw unreadableError("its CMS structure does not contain its signer's certificate");
  const hash = hashNameOf(digestAlgorithmOf(digestAlgorithm));
  const { x509, key } = own;
  // The signature covers the attributes with the tag of a SET, not with the tag they have in the SignerInfo (RFC 5652, 5.4).
  const data = Buffer.concat([Buffer.from([0x31]), signed.raw.subarray(1)]);
  const isValid = isValidSignature(algorithmIdentifier(algorithm), hash, {
    data,
    key,
    signature: value.octets,
  });
  return {
    hash,
    certificate: x509,
    certificates: certificates.map((one) => one.x509),
    time: attributes.get(OID.signingTime)?.time,
    isGood: (digest) => isValid && signedDigest.equals(digest) && namesCertificate(attributes, x509),
  };
}

/** Reads the signed attributes. @throws UnreadableSignatureError if one is repeated or doesn't have exactly one value (RFC 5652, 11). */
function attributesOf(signed: Element): Map<string, Element> {
  const attributes = new Map<string, Element>();
  for (const attribute of signed.parts) {
    const { oid } = attribute.part(0);
    const [value, ...others] = attribute.part(1).parts;
    if (attributes.has(oid) || value === undefined || others.length > 0)
      throw unreadableError('a signed attribute does not have exactly one value');
    attributes.set(oid, value);
  }
  return attributes;
}

/** Returns true if the attribute for the signer's certificate (RFC 5035) identifies this one, or doesn't exist. */
function namesCertificate(attributes: ReadonlyMap<string, Element>, { raw }: X509Certificate): boolean {
  const second = attributes.get(OID.signingCertificateV2)?.part(0).part(0);
  const first = attributes.get(OID.signingCertificate)?.part(0).part(0);
  if (second !== undefined) {
    // Checks the tag, because the content of an OCTET STRING may look like ASN.1, too: for example, a hash whose second byte is 0x1e.
    const isNamed = second.part(0).isSequence;
    const [algorithm, hash] = isNamed ? [second.part(0), second.part(1)] : [undefined, second.part(0)];
    const name = algorithm === undefined ? 'sha256' : hashNameOf(algorithm);
    if (!createHash(name).update(raw).digest().equals(hash.octets)) return false;
  }
  return first === undefined || createHash('sha1').update(raw).digest().equals(first.part(0).octets);
}

interface Certificate {
  x509: X509Certificate;
  key: KeyObject;
  element: Element;
}

function certificateOf(element: Element): Certificate {
  try {
    const x509 = new X509Certificate(element.raw);
    return { x509, key: x509.publicKey, element };
  } catch {
    throw unreadableError("an included certificate can't be read");
  }
}

/** Returns true if a certificate is the signer's, by issuer and serial number or by key identifier (RFC 5652, 5.3). */
function isSigner({ element }: Certificate, who: Element): boolean {
  const fields = certificateFields(element.part(0));
  if (who.context !== 0) {
    const [serial, , issuer] = fields;
    return serial?.raw.equals(who.part(1).raw) === true && issuer?.raw.equals(who.part(0).raw) === true;
  }
  const identifier = extensionsOf(fields).get(OID.keyIdentifier)?.value;
  return identifier?.subarray(-20).equals(who.raw.subarray(-20)) === true;
}
