import { createPrivateKey, generateKeyPair, randomBytes, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { Integer, OctetString, PrintableString } from 'asn1js';
import {
  AttributeTypeAndValue,
  BasicConstraints,
  Certificate,
  CryptoEngine,
  Extension,
  GeneralName,
  GeneralNames,
} from 'pkijs';

/** A private key and its certificate for 127.0.0.1 and localhost, both in PEM. */
export interface Certified {
  key: string;
  cert: string;
}

const ALGORITHM = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
const COMMON_NAME = '2.5.4.3';
const SUBJECT_ALT_NAME = '2.5.29.17';
const BASIC_CONSTRAINTS = '2.5.29.19';
const DNS_NAME = 2;
const IP_ADDRESS = 7;
const DAY_MS = 86_400_000;

/**
 * Creates a certificate signed with the authority's key or, without one, with its own; then it can sign others. For test
 * servers: valid from yesterday until tomorrow.
 */
export async function certify(name: string, authority?: Certified): Promise<Certified> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: 2_048 });
  const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const engine = new CryptoEngine({ name: 'node', crypto: webcrypto });
  const certificate = new Certificate();
  certificate.version = 2;
  certificate.serialNumber = new Integer({ valueHex: new Uint8Array([1, ...randomBytes(8)]).buffer });
  certificate.subject.typesAndValues.push(commonName(name));
  if (authority) certificate.issuer = Certificate.fromBER(derOf(authority.cert)).subject;
  else certificate.issuer.typesAndValues.push(commonName(name));
  certificate.notBefore.value = new Date(Date.now() - DAY_MS);
  certificate.notAfter.value = new Date(Date.now() + DAY_MS);
  certificate.extensions = [alternativeNames(), constraints(authority === undefined)];
  const spki = pair.publicKey.export({ type: 'spki', format: 'der' });
  const publicKey = await webcrypto.subtle.importKey('spki', spki, ALGORITHM, true, ['verify']);
  await certificate.subjectPublicKeyInfo.importKey(publicKey, engine);
  await certificate.sign(await signingKey(authority?.key ?? key), 'SHA-256', engine);
  return { key, cert: pemOf(certificate.toSchema(true).toBER()) };
}

function commonName(value: string): AttributeTypeAndValue {
  return new AttributeTypeAndValue({ type: COMMON_NAME, value: new PrintableString({ value }) });
}

function alternativeNames(): Extension {
  const address = new OctetString({ valueHex: new Uint8Array([127, 0, 0, 1]).buffer });
  const names = new GeneralNames({
    names: [
      new GeneralName({ type: IP_ADDRESS, value: address }),
      new GeneralName({ type: DNS_NAME, value: 'localhost' }),
    ],
  });
  return new Extension({ extnID: SUBJECT_ALT_NAME, extnValue: names.toSchema().toBER() });
}

function constraints(cA: boolean): Extension {
  const extnValue = new BasicConstraints({ cA }).toSchema().toBER();
  return new Extension({ extnID: BASIC_CONSTRAINTS, critical: true, extnValue });
}

function signingKey(pem: string): Promise<webcrypto.CryptoKey> {
  const pkcs8 = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign']);
}

function pemOf(der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64');
}
