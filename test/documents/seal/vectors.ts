import { createECDH, createHash, createPrivateKey, webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Integer, Sequence } from 'asn1js';
import * as z from 'zod';
import { parseJson } from '../../../src/kernel/json.ts';
import { rsaKeys } from '../../support/authorities.ts';
import {
  type CmsForgery,
  cmsOf,
  makeSealer,
  plainPdf,
  type Sealer,
  withSignature,
} from '../../support/sealing.ts';
import { type Case, forgeries, genuine, type Signers } from './forgeries.ts';

/*
 * The vectors in contract/seals: files with which another program can check that it judges seals by the same rule. They are made with
 * fixed keys and deterministic signatures, so that making them again changes nothing.
 */

const keysSchema = z.object({
  service: z.string(),
  stranger: z.string(),
  authority: z.string(),
  weak: z.string(),
});

/** Returns the signers of the vectors. Their private keys are public, so nobody may trust their certificates. */
export async function vectorSigners(): Promise<Signers> {
  const keys = keysSchema.parse(
    parseJson(readFileSync(join(import.meta.dirname, 'vector-keys.json'), 'utf8')),
  );
  const make = async (name: string, serial: number, pkcs8: string) => {
    const key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' });
    return makeSealer({ name, serial, keys: await rsaKeys(key) });
  };
  return {
    service: await make('Service', 1, keys.service),
    stranger: await make('Stranger', 2, keys.stranger),
    authority: await make('Timestamps', 3, keys.authority),
    weak: await make('Weak', 4, keys.weak),
  };
}

/** A vector: the name of its file, and a case. */
export type Vector = readonly [file: string, ...Case];

/** Returns all vectors. Of cases that only differ in a place, a few are enough. */
export async function makeVectors(signers: Signers): Promise<Vector[]> {
  const names = new Map<string, number>();
  const name = (kind: string, what: string) => {
    const words = what
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '');
    const slug = `${kind}-${words.slice(0, 60)}`;
    const count = (names.get(slug) ?? 0) + 1;
    names.set(slug, count);
    return `${slug}${count > 1 ? `-${count}` : ''}.pdf`;
  };
  const honest = [...genuine(signers), ...(await otherAlgorithms(signers))];
  const forged = [...forgeries(signers)].filter(isRepresentative);
  return [
    ...honest.map((one): Vector => [name('genuine', one[0]), ...one]),
    ...forged.map((one): Vector => [name('forged', one[0]), ...one]),
  ];
}

/** Returns false for cases that differ from others only in a place, and for the few files that aren't text. */
function isRepresentative([what, , pdf]: Case): boolean {
  const [, byte] = /^a bit of byte (\d+)$/.exec(what) ?? [];
  if (byte !== undefined) return Number(byte) % 115 === 0;
  const isAscii = pdf.every((one) => one < 0x80);
  return isAscii && (!/^the byte range \[.*\] (after|before) a seal$/.test(what) || what.includes('[0 A B]'));
}

/** Genuine seals with other hashes and another kind of key. */
async function otherAlgorithms({ service }: Signers): Promise<Case[]> {
  const honest = plainPdf('Rent 100');
  const seal = (sealer: Sealer, forgery: CmsForgery = {}) =>
    withSignature(honest, (covered) => cmsOf(sealer, covered, forgery));
  return [
    ['SHA-384 and RSA', 'whole', seal(service, { hash: 'sha384' })],
    ['SHA-512 and RSA', 'whole', seal(service, { hash: 'sha512' })],
    [
      'SHA-512 for the content and SHA-256 in the signature',
      'whole',
      seal(service, { hash: 'sha512', signatureHash: 'sha256' }),
    ],
    ['SHA-256 and ECDSA with P-256', 'whole', seal(await curveSealer(service))],
  ];
}

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const;
/** The order of P-256 (SEC 2, 2.4.2). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Returns a signer with a key on a curve, whose certificate the service issued. */
async function curveSealer({ issued: issuer }: Sealer): Promise<Sealer> {
  const secret = sha256(Buffer.from('esign seal vectors'));
  const point = pointOf(secret);
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
  const jwk = { kty: 'EC', crv: 'P-256', x, y };
  const full = { ...jwk, d: secret.toString('base64url') };
  const keys = {
    publicKey: await webcrypto.subtle.importKey('jwk', jwk, CURVE, true, ['verify']),
    privateKey: await webcrypto.subtle.importKey('jwk', full, CURVE, true, ['sign']),
  };
  const sealer = await makeSealer({ name: 'Curve', serial: 5, issuer, keys });
  return { ...sealer, sign: (data) => curveSignature(secret, data) };
}

/** Returns an ECDSA signature whose nonce follows from the key and the data, so that it is always the same. */
function curveSignature(secret: Buffer, data: Buffer): Buffer {
  const digest = sha256(data);
  const nonce = sha256(Buffer.concat([secret, digest]));
  const r = numberOf(pointOf(nonce).subarray(1, 33)) % ORDER;
  const inverse = power(numberOf(nonce), ORDER - 2n);
  const s = (inverse * (numberOf(digest) + r * numberOf(secret))) % ORDER;
  const value = [r, s].map((one) => Integer.fromBigInt(one));
  return Buffer.from(new Sequence({ value }).toBER());
}

const sha256 = (data: Buffer) => createHash('sha256').update(data).digest();
const numberOf = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`);

/** Returns the point of P-256 for a number: 04, x, and y. */
function pointOf(secret: Buffer): Buffer {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(secret);
  return curve.getPublicKey();
}

/** Returns the power modulo the order of the curve. */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) result = (result * result * (bit === '1' ? base : 1n)) % ORDER;
  return result;
}
