import {
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import { promisify } from 'node:util';
import {
  Boolean as Asn1Boolean,
  Set as Asn1Set,
  BitString,
  Integer,
  Null,
  ObjectIdentifier,
  PrintableString,
  Sequence,
  Utf8String,
} from 'asn1js';
import {
  AttributeTypeAndValue,
  Certificate,
  CryptoEngine,
  Extension,
  GeneralName,
  GeneralSubtree,
  NameConstraints,
  RelativeDistinguishedNames,
} from 'pkijs';

const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  country: '2.5.4.6',
};
const DAY_MS = 86_400_000;

/** A certificate and its key. */
export interface Issued {
  x509: X509Certificate;
  pem: string;
  certificate: Certificate;
  keys: webcrypto.CryptoKeyPair;
}

/** The content of a certificate; by default a signer's, valid from yesterday until tomorrow. */
export interface Wanted {
  /** Empty for a certificate without a name. */
  name: string;
  organization?: string;
  /** The issuer; self-signed without one. */
  issuer?: Issued;
  /** The key of another certificate. */
  keys?: webcrypto.CryptoKeyPair;
  /** Random without one. */
  serial?: number;
  authority?: boolean | undefined;
  pathLength?: number;
  /** The first byte of the bits, such as 0x80 for digitalSignature. */
  keyUsage?: number;
  purposes?: readonly string[];
  /** The hosts of the name constraints. */
  permitted?: readonly string[];
  excluded?: readonly string[];
  /** Whether the name constraints are critical. */
  isCritical?: boolean;
  /** A critical extension with this name and the value NULL. */
  critical?: string;
  hash?: 'SHA-1' | 'SHA-256';
  from?: number;
  to?: number;
  /** RSA with this many bits instead of P-256. */
  rsaBits?: number;
}

/** Issues a certificate. */
export async function issue(wanted: Wanted): Promise<Issued> {
  const { issuer, organization, hash = 'SHA-256' } = wanted;
  const engine = new CryptoEngine({ name: 'node', crypto: webcrypto });
  const keys = wanted.keys ?? (await newKeys(wanted.rsaBits));
  const certificate = new Certificate();
  certificate.version = 2;
  const serial = wanted.serial === undefined ? [1, ...randomBytes(8)] : [wanted.serial];
  certificate.serialNumber = new Integer({ valueHex: new Uint8Array(serial).buffer });
  certificate.subject = distinguishedName({ organization, commonName: wanted.name });
  certificate.issuer = issuer?.certificate.subject ?? certificate.subject;
  certificate.notBefore.value = new Date(wanted.from ?? Date.now() - DAY_MS);
  certificate.notAfter.value = new Date(wanted.to ?? Date.now() + DAY_MS);
  certificate.extensions = extensionsOf(wanted);
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey, engine);
  await certificate.sign(issuer?.keys.privateKey ?? keys.privateKey, hash, engine);
  const x509 = new X509Certificate(Buffer.from(certificate.toSchema(true).toBER()));
  return { x509, pem: x509.toString(), certificate, keys };
}

async function newKeys(rsaBits: number | undefined): Promise<webcrypto.CryptoKeyPair> {
  if (rsaBits === undefined) return webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  // WebCrypto doesn't create keys as short as some tests need.
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: rsaBits });
  return rsaKeys(pair.privateKey);
}

/** Returns a pair for the WebCrypto API. */
export async function rsaKeys(key: KeyObject): Promise<webcrypto.CryptoKeyPair> {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const [spki, pkcs8] = [
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    key.export({ type: 'pkcs8', format: 'der' }),
  ];
  return {
    publicKey: await webcrypto.subtle.importKey('spki', spki, algorithm, true, ['verify']),
    privateKey: await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']),
  };
}

function extensionsOf(wanted: Wanted): Extension[] {
  const {
    authority,
    pathLength,
    keyUsage,
    purposes,
    permitted,
    excluded,
    isCritical = true,
    critical,
  } = wanted;
  const extensions: Extension[] = [];
  const add = (extnID: string, value: { toBER(): ArrayBuffer }, isCritical = true) =>
    extensions.push(new Extension({ extnID, critical: isCritical, extnValue: value.toBER() }));
  if (authority !== undefined) {
    const parts = [
      ...(authority ? [new Asn1Boolean({ value: true })] : []),
      ...(pathLength === undefined ? [] : [new Integer({ value: pathLength })]),
    ];
    add('2.5.29.19', new Sequence({ value: parts }));
  }
  if (keyUsage !== undefined)
    add('2.5.29.15', new BitString({ valueHex: new Uint8Array([keyUsage]).buffer, unusedBits: 0 }));
  if (purposes !== undefined)
    add(
      '2.5.29.37',
      new Sequence({ value: purposes.map((value) => new ObjectIdentifier({ value })) }),
      false,
    );
  if (permitted !== undefined || excluded !== undefined) {
    const subtrees = (hosts: readonly string[]) =>
      hosts.map((value) => new GeneralSubtree({ base: new GeneralName({ type: 2, value }) }));
    add(
      '2.5.29.30',
      new NameConstraints({
        ...(permitted && { permittedSubtrees: subtrees(permitted) }),
        ...(excluded && { excludedSubtrees: subtrees(excluded) }),
      }).toSchema(),
      isCritical,
    );
  }
  if (critical !== undefined) add(critical, new Null());
  return extensions;
}

type NameParts = Partial<Record<keyof typeof OID, string | undefined>>;

/** A name with one attribute in each of its parts; pkijs would put all of them into one. */
function distinguishedName(parts: NameParts): RelativeDistinguishedNames {
  const kinds = ['country', 'organization', 'commonName'] as const;
  const value = kinds.flatMap((kind) => {
    const text = parts[kind];
    return text === undefined || text === ''
      ? []
      : [new Asn1Set({ value: [attribute(OID[kind], text).toSchema()] })];
  });
  return RelativeDistinguishedNames.fromBER(new Sequence({ value }).toBER());
}

function attribute(type: string, value: string): AttributeTypeAndValue {
  const isAscii = /^[A-Za-z0-9 '()+,./:=?-]*$/.test(value);
  return new AttributeTypeAndValue({
    type,
    value: isAscii ? new PrintableString({ value }) : new Utf8String({ value }),
  });
}
