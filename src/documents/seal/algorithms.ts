import { constants, type KeyObject, verify } from 'node:crypto';
import { type Element, unreadableError } from './asn1.ts';

/** Node's names for hash algorithms. MD5 and SHA-1 are missing on purpose because they have practical collisions. */
const HASHES: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
  '2.16.840.1.101.3.4.2.8': 'sha3-256',
  '2.16.840.1.101.3.4.2.9': 'sha3-384',
  '2.16.840.1.101.3.4.2.10': 'sha3-512',
};

const RSA = '1.2.840.113549.1.1.1';
const PSS = '1.2.840.113549.1.1.10';
/** The only mask generation function used with PSS. */
const MGF1 = '1.2.840.113549.1.1.8';
const EC = '1.2.840.10045.2.1';
const ED25519 = '1.3.101.112';
/** Signature algorithms whose identifier includes the hash. */
const WITH_HASH: Readonly<Record<string, { kind: 'rsa' | 'ec'; hash: string }>> = {
  '1.2.840.113549.1.1.11': { kind: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { kind: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { kind: 'rsa', hash: 'sha512' },
  '1.2.840.10045.4.3.2': { kind: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { kind: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { kind: 'ec', hash: 'sha512' },
};

/** The size of an element without content: its tag and its length. */
const HEADER_BYTES = 2;

/** Validates an AlgorithmIdentifier: an object identifier and its parameters; empty parameters are NULL. */
export function algorithmIdentifier(element: Element): Element {
  const [, parameters] = element.as('sequence').parts;
  if (parameters?.raw.length === HEADER_BYTES) parameters.as('null');
  return element;
}

/**
 * Validates the AlgorithmIdentifier of a digest, whose parameters are NULL or absent (RFC 5754, 2). Nothing signs it, so that anything else
 * in it could be text that was put into a sealed file later.
 */
export function digestAlgorithmOf(element: Element): Element {
  const [, parameters, ...others] = algorithmIdentifier(element).parts;
  if ((parameters !== undefined && parameters.raw.length !== HEADER_BYTES) || others.length > 0)
    throw unreadableError('its digest algorithm has unexpected parameters');
  return element;
}

/** Returns Node's name for the hash of an AlgorithmIdentifier. @throws UnreadableSignatureError for an unsupported one. */
export function hashNameOf(algorithm: Element): string {
  const { oid } = algorithm.part(0);
  const name = HASHES[oid];
  if (name === undefined) throw unreadableError(`it uses an unsupported hash (${oid})`);
  return name;
}

/**
 * Returns true if a signature over the data is valid. `algorithm` is the AlgorithmIdentifier of the signature. `hash` is the digest
 * algorithm, used if the signature algorithm names none. @throws UnreadableSignatureError for an unsupported algorithm.
 */
export function isValidSignature(
  algorithm: Element,
  hash: string,
  { data, key, signature }: { data: Buffer; key: KeyObject; signature: Buffer },
): boolean {
  const { oid } = algorithm.part(0);
  const named = WITH_HASH[oid];
  const kind = named?.kind ?? { [RSA]: 'rsa', [PSS]: 'pss', [EC]: 'ec', [ED25519]: 'ed25519' }[oid];
  if (kind === undefined) throw unreadableError(`its signature algorithm is not supported (${oid})`);
  requireUsable(key, kind);
  const wanted = { rsa: ['rsa'], pss: ['rsa', 'rsa-pss'], ec: ['ec'], ed25519: ['ed25519'] }[kind];
  if (!wanted?.includes(key.asymmetricKeyType ?? '')) return false;
  try {
    if (kind === 'ed25519') return verify(null, data, key, signature);
    if (kind === 'ec') return verify(named?.hash ?? hash, data, { key, dsaEncoding: 'der' }, signature);
    if (kind === 'rsa') return verify(named?.hash ?? hash, data, key, signature);
    const { hash: pssHash, saltLength } = pssOf(algorithm);
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return verify(pssHash, data, { key, padding, saltLength }, signature);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** Checks a key. @throws UnreadableSignatureError if it isn't safe, or if other programs refuse it for this kind of signature. */
function requireUsable(key: KeyObject, kind: string): void {
  if (!isLongEnough(key)) throw unreadableError('its key is too short to be secure');
  if (kind === 'rsa' && key.asymmetricKeyType === 'rsa-pss')
    throw unreadableError('its key is for RSA-PSS, but its signature is not');
}

/** Returns true if a certificate's signature algorithm (AlgorithmIdentifier) uses a hash that is still safe. */
export function hasSafeHash(algorithm: Element): boolean {
  const { oid } = algorithm.part(0);
  if (oid === PSS) {
    pssOf(algorithm);
    return true;
  }
  return oid === ED25519 || WITH_HASH[oid] !== undefined;
}

const MIN_RSA_BITS = 2048;
const MIN_EC_BITS = 256;

/** Returns false for an RSA key of fewer than 2,048 bits, or a curve of fewer than 256. */
export function isLongEnough({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (asymmetricKeyType === 'ec') {
    // The names of curves contain their sizes: prime256v1, secp384r1, brainpoolP256r1.
    const [bits] = /\d{3}/.exec(asymmetricKeyDetails?.namedCurve ?? '') ?? [];
    return Number(bits ?? 0) >= MIN_EC_BITS;
  }
  if (asymmetricKeyType !== 'rsa' && asymmetricKeyType !== 'rsa-pss') return true;
  return (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
}

/** Reads RSASSA-PSS-params (RFC 4055). The defaults use SHA-1, which is not supported. */
function pssOf(algorithm: Element): { hash: string; saltLength: number } {
  const parameters = algorithm.parts[1]?.as('sequence').parts ?? [];
  const inside = (tag: number) => parameters.find(({ context }) => context === tag)?.part(0);
  const [hash, generator, salt, trailer] = [inside(0), inside(1), inside(2), inside(3)];
  if (hash === undefined || generator === undefined) throw unreadableError('its hash is not secure (SHA-1)');
  const name = hashNameOf(digestAlgorithmOf(hash));
  const isKnown =
    generator.as('sequence').part(0).oid === MGF1 &&
    hashNameOf(digestAlgorithmOf(generator.part(1))) === name &&
    (trailer === undefined || trailer.integer === 1);
  if (!isKnown) throw unreadableError('its PSS parameters are not supported');
  return { hash: name, saltLength: salt?.integer ?? 20 };
}
