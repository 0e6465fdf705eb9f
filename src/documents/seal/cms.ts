import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { algorithmOf, hashOf, isValidSignature } from './algorithms.ts';
import { Element, unreadable } from './asn1.ts';

const OID = {
  signedData: '1.2.840.113549.1.7.2',
  data: '1.2.840.113549.1.7.1',
  timeStamp: '1.2.840.113549.1.9.16.1.4',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  signatureTimeStamp: '1.2.840.113549.1.9.16.2.14',
  keyIdentifier: '2.5.29.14',
} as const;

/** A detached CMS signature (RFC 5652), or a timestamp (RFC 3161). */
export interface SignedContent {
  /** Node's name for the content's hash algorithm. */
  hash: string;
  certificate: X509Certificate;
  certificates: readonly X509Certificate[];
  /** The time claimed by the signer or attested by the timestamp, ISO 8601. */
  time: string | undefined;
  isTimeStamped: boolean;
  /** Whether the signed attributes identify the signer's certificate, as CAdES requires. */
  bindsCertificate: boolean;
  /** Returns true if the signature is valid and covers content with this digest. */
  isGood(digest: Buffer): boolean;
}

/**
 * Reads a signature in DER, which only zeros may follow.
 * @throws UnreadableSignatureError for an unreadable or unsupported one.
 */
export function readSignedContent(contents: Buffer, kind: 'signature' | 'timeStamp'): SignedContent {
  const { element: outer, length } = Element.readFirst(contents);
  if (contents.subarray(length).some((byte) => byte !== 0))
    throw unreadable('nonzero data follows its CMS structure');
  if (outer.as('sequence').part(0).oid !== OID.signedData || outer.part(1).context !== 0)
    throw unreadable('its CMS structure is not SignedData');
  const [version, hashes, content, ...rest] = outer.part(1).part(0).as('sequence').parts;
  const signers = rest.at(-1)?.as('set').parts ?? [];
  const [signer] = signers;
  if (content === undefined || signer === undefined || signers.length !== 1)
    throw unreadable('it does not have exactly one signer');
  content.as('sequence');
  const announced = hashes?.as('set').parts.map((one) => algorithmOf(one).part(0).oid);
  const isAnnounced = announced?.includes(signer.part(2).part(0).oid);
  if (!isAnnounced || ![1, 3, 4, 5].includes(version?.integer ?? 0))
    throw unreadable('its CMS structure is inconsistent');
  const certificates = (rest.find(({ context }) => context === 0)?.parts ?? []).map(certificateOf);
  return kind === 'signature'
    ? overContent(content, signer, certificates)
    : timeStamp(content, signer, certificates);
}

function overContent(content: Element, signer: Element, certificates: Certificate[]): SignedContent {
  if (content.parts.length > 1) throw unreadable('its CMS structure includes the signed content');
  const info = readSigner(signer, content.part(0).oid, OID.data, certificates);
  const { attributes } = info;
  return {
    ...info,
    time: attributes.get(OID.signingTime)?.time,
    isGood: (digest) => info.signs(digest),
  };
}

/** Reads a TSTInfo (RFC 3161, 2.4.2): version, policy, imprint, serial number, time. */
function timeStamp(content: Element, signer: Element, certificates: Certificate[]): SignedContent {
  const token = content.part(1).part(0).octets;
  const info = readSigner(signer, content.part(0).oid, OID.timeStamp, certificates);
  const [, , imprint, , time] = Element.read(token).parts;
  if (imprint === undefined) throw unreadable('its timestamp is incomplete');
  const stamped = imprint.part(1).octets;
  const isSigned = info.signs(createHash(info.hash).update(token).digest());
  return {
    ...info,
    hash: hashOf(imprint.part(0)),
    time: time?.time,
    isGood: (digest) => isSigned && stamped.equals(digest),
  };
}

interface SignerFacts extends Omit<SignedContent, 'time' | 'isGood'> {
  /** The signed attributes by type. Each has exactly one value. */
  attributes: ReadonlyMap<string, Element>;
  signs(digest: Buffer): boolean;
}

/** Reads a SignerInfo: version, signer, hash, [0] signed attributes, algorithm, signature, [1] unsigned attributes. */
function readSigner(
  signer: Element,
  type: string,
  wantedType: string,
  certificates: readonly Certificate[],
): SignerFacts {
  const [version, who, digestAlgorithm, signed, algorithm, value, more] = signer.as('sequence').parts;
  if (who === undefined || digestAlgorithm === undefined || signed?.context !== 0)
    throw unreadable('its CMS structure has no signed attributes');
  if (algorithm === undefined || value === undefined) throw unreadable('its CMS structure is incomplete');
  if (version?.integer !== (who.context === 0 ? 3 : 1)) throw unreadable('its CMS structure is inconsistent');
  if (who.context !== 0) who.as('sequence');
  const attributes = attributesOf(signed);
  const own = certificates.find((one) => isSigner(one, who));
  if (own === undefined) throw unreadable("its CMS structure does not contain its signer's certificate");
  const hash = hashOf(algorithmOf(digestAlgorithm));
  const { x509, key } = own;
  // The signature covers the attributes with the tag of a SET, not with the tag they have in the SignerInfo (RFC 5652, 5.4).
  const data = Buffer.concat([Buffer.from([0x31]), signed.raw.subarray(1)]);
  const isWellFormed =
    type === wantedType &&
    attributes.get(OID.contentType)?.oid === wantedType &&
    namesCertificate(attributes, x509);
  return {
    hash,
    certificate: x509,
    certificates: certificates.map((one) => one.x509),
    attributes,
    isTimeStamped: (more?.parts ?? []).some(
      (attribute) => attribute.parts[0]?.oid === OID.signatureTimeStamp,
    ),
    bindsCertificate: attributes.has(OID.signingCertificateV2) || attributes.has(OID.signingCertificate),
    signs: (digest) =>
      isWellFormed &&
      attributes.get(OID.messageDigest)?.octets.equals(digest) === true &&
      isValidSignature(algorithmOf(algorithm), hash, { data, key, signature: value.octets }),
  };
}

/** Reads the signed attributes. @throws UnreadableSignatureError if one is repeated or doesn't have exactly one value (RFC 5652, 11). */
function attributesOf(signed: Element): Map<string, Element> {
  const attributes = new Map<string, Element>();
  for (const attribute of signed.parts) {
    const { oid } = attribute.part(0);
    const values = attribute.part(1).parts;
    const [value] = values;
    if (attributes.has(oid)) throw unreadable('a signed attribute is repeated');
    if (value !== undefined && values.length === 1) attributes.set(oid, value);
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
    const name = algorithm === undefined ? 'sha256' : hashOf(algorithm);
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
    throw unreadable("an included certificate can't be read");
  }
}

/** Returns true if a certificate is the signer's, by issuer and serial number or by key identifier (RFC 5652, 5.3). */
function isSigner({ element }: Certificate, who: Element): boolean {
  const tbs = element.part(0).parts;
  const fields = tbs[0]?.context === 0 ? tbs.slice(1) : tbs;
  if (who.context !== 0) {
    const [serial, , issuer] = fields;
    return serial?.raw.equals(who.part(1).raw) === true && issuer?.raw.equals(who.part(0).raw) === true;
  }
  const extensions = fields.find(({ context }) => context === 3)?.part(0).parts ?? [];
  const value = extensions.find((one) => one.parts[0]?.oid === OID.keyIdentifier)?.parts.at(-1);
  const identifier = who.raw.subarray(-20);
  return value?.octets.subarray(-20).equals(identifier) === true;
}
