import { generateKeyPair, randomBytes, webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CryptoKeySigner, PDF } from '@libpdf/core';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import * as z from 'zod';
import { UsageError } from '../../kernel/errors.ts';
import { writeFileAtomic } from '../../kernel/files/files.ts';
import { ifExists } from '../../kernel/files/regular-file.ts';
import { parseJson } from '../../kernel/json.ts';

/** The key and certificate (DER) of this sandbox for sealing documents. */
export interface SealKey {
  privateKey: webcrypto.CryptoKey;
  certificate: Uint8Array;
}

const NAME = 'esign sandbox (test only)';
const YEARS = 50;
const ALGORITHM = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
const COMMON_NAME = '2.5.4.3';
const GENERALIZED_TIME = 1;
const KEY_USAGE = '2.5.29.15';
/** The key usage bits digitalSignature and contentCommitment. */
const SIGNS_DOCUMENTS = new Uint8Array([0xc0]);

const fileSchema = z.object({ privateKey: z.base64(), certificate: z.base64() });

/**
 * Returns the document with a PAdES B-B seal over all of it. The same document, key, and time (ISO 8601) give the same bytes, because the
 * signature scheme is deterministic.
 */
export async function sealPdf(bytes: Uint8Array, key: SealKey, at: string): Promise<Uint8Array> {
  const pdf = await PDF.load(bytes);
  const sealed = await pdf.sign({
    signer: new CryptoKeySigner(key.privateKey, key.certificate, 'RSA', 'RSASSA-PKCS1-v1_5'),
    reason: 'Sealed after the last signer signed',
    signingTime: new Date(at),
    fieldName: 'EsignSeal',
    subFilter: 'ETSI.CAdES.detached',
    level: 'B-B',
  });
  return sealed.bytes;
}

/** Returns the key of a data folder. It is created for the first document and stored, so that a restarted sandbox uses the same key. */
export async function loadSealKey(folder: string): Promise<SealKey> {
  const path = join(folder, 'seal-key.json');
  const text = await ifExists(readFile(path, 'utf8'));
  if (text === undefined) {
    const { pkcs8, ...made } = await makeSealKey();
    const privateKey = pkcs8.toString('base64');
    const certificate = Buffer.from(made.certificate).toString('base64');
    await writeFileAtomic(path, JSON.stringify({ privateKey, certificate }), 0o600);
    return made;
  }
  const file = fileSchema.safeParse(parseJson(text));
  if (!file.success)
    throw new UsageError(`${path} is damaged.`, {
      hint: 'Move it somewhere else, and a new key will be created.',
    });
  const privateKey = await importKey(Buffer.from(file.data.privateKey, 'base64'));
  return { privateKey, certificate: Buffer.from(file.data.certificate, 'base64') };
}

/** Creates a key. It isn't stored. */
export async function makeSealKey(): Promise<SealKey & { pkcs8: Buffer }> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: 2_048 });
  const pkcs8 = pair.privateKey.export({ type: 'pkcs8', format: 'der' });
  const spki = pair.publicKey.export({ type: 'spki', format: 'der' });
  const privateKey = await importKey(pkcs8);
  const publicKey = await webcrypto.subtle.importKey('spki', spki, ALGORITHM, true, ['verify']);
  return { pkcs8, privateKey, certificate: await selfSigned(publicKey, privateKey) };
}

function importKey(pkcs8: Buffer): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign']);
}

async function selfSigned(
  publicKey: webcrypto.CryptoKey,
  privateKey: webcrypto.CryptoKey,
): Promise<Uint8Array> {
  const engine = new pkijs.CryptoEngine({ name: 'node', crypto: webcrypto });
  const certificate = new pkijs.Certificate();
  const from = new Date(Date.UTC(2020, 0, 1));
  certificate.version = 2;
  certificate.serialNumber = new asn1js.Integer({ valueHex: positiveNumber(randomBytes(16)) });
  for (const name of [certificate.issuer, certificate.subject]) {
    const value = new asn1js.Utf8String({ value: NAME });
    name.typesAndValues.push(new pkijs.AttributeTypeAndValue({ type: COMMON_NAME, value }));
  }
  certificate.notBefore.value = from;
  // From 2050 on, years have four digits (RFC 5280, 4.1.2.5).
  certificate.notAfter = new pkijs.Time({
    type: GENERALIZED_TIME,
    value: new Date(Date.UTC(2020 + YEARS, 0, 1)),
  });
  const usage = new asn1js.BitString({ valueHex: SIGNS_DOCUMENTS.buffer, unusedBits: 6 });
  certificate.extensions = [
    new pkijs.Extension({ extnID: KEY_USAGE, critical: true, extnValue: usage.toBER() }),
  ];
  await certificate.subjectPublicKeyInfo.importKey(publicKey, engine);
  await certificate.sign(privateKey, 'SHA-256', engine);
  return new Uint8Array(certificate.toSchema(true).toBER());
}

/** Clears the first bit, because a serial number must be positive. */
function positiveNumber(bytes: Buffer): ArrayBuffer {
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return new Uint8Array(bytes).buffer;
}
