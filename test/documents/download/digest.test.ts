import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ChecksumAlgorithm, ObjectFacts } from '../../../src/documents/bucket/object.ts';
import { Digest } from '../../../src/documents/download/digest.ts';

/*
 * Some buckets identify an object only by its checksum: with SSE-KMS and for multipart uploads, the ETag is not an MD5. Two
 * of the checksums are computed by our code. The expected values are those of the CRC catalogue and FIPS 180 for
 * "123456789".
 */
const DIGITS = '123456789';
const CHECK_VALUES: [ChecksumAlgorithm, string][] = [
  ['CRC32', 'cbf43926'],
  ['CRC32C', 'e3069283'],
  ['CRC64NVME', 'ae8b14860a799888'],
  ['SHA1', 'f7c3bc1d808e04732adf679965ccc34ca7ae3441'],
  ['SHA256', '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225'],
];

const facts = (algorithm: ChecksumAlgorithm, hex: string, more: Partial<ObjectFacts> = {}): ObjectFacts => ({
  size: undefined,
  etag: undefined,
  md5: undefined,
  checksum: { algorithm, value: Buffer.from(hex, 'hex').toString('base64') },
  modified: undefined,
  contentType: undefined,
  encryption: undefined,
  storageClass: undefined,
  ...more,
});

/** Verifies a text that arrives in chunks of this many bytes. */
function prove(text: string, piece: number, of: ObjectFacts): Digest {
  const digest = new Digest('documents/lease.txt', of);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) digest.update(bytes.subarray(at, at + piece));
  return digest;
}

describe('an object that only has a checksum', () => {
  it.each(CHECK_VALUES)('is verified by %s, in one chunk and in many', (algorithm, hex) => {
    const sha256 = createHash('sha256').update(DIGITS).digest('hex');
    for (const piece of [1, 4, 9])
      expect(prove(DIGITS, piece, facts(algorithm, hex)).result()).toEqual({ bytes: 9, sha256 });
  });

  it.each(CHECK_VALUES)('is refused if one byte differs, by %s', (algorithm, hex) => {
    const digest = prove('123456780', 4, facts(algorithm, hex));
    expect(() => digest.result()).toThrow(`(${algorithm}) does not match`);
  });

  it.each([
    ['CRC32', '00000000'],
    ['CRC32C', '00000000'],
    ['CRC64NVME', '0000000000000000'],
  ] as const)('is verified by %s when it is empty, which is all zeros', (algorithm, hex) => {
    expect(prove('', 1, facts(algorithm, hex)).result().bytes).toBe(0);
  });
});

it('is verified by its MD5 if it has one and the checksum is slow to compute', () => {
  const md5 = createHash('md5').update(DIGITS).digest('hex');
  const wrong = '0000000000000000';
  expect(prove(DIGITS, 9, facts('CRC64NVME', wrong, { md5 })).result().bytes).toBe(9);
  expect(prove(DIGITS, 9, facts('CRC32C', wrong.slice(8), { md5 })).result().bytes).toBe(9);
  expect(() => prove(DIGITS, 9, facts('CRC32', wrong.slice(8), { md5 })).result()).toThrow('(CRC32)');
  const other = facts('CRC64NVME', wrong, { md5: md5.replace(/./, 'x') });
  expect(() => prove(DIGITS, 9, other).result()).toThrow('(ETag)');
});

it('reports gzip if an object is stored compressed', () => {
  const digest = new Digest('signed.pdf', facts('SHA256', ''));
  const gzip = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
  expect(() => digest.update(gzip)).toThrow(expect.objectContaining({ code: 'STORAGE_CORRUPT' }));
  expect(() => new Digest('signed.pdf', facts('SHA256', '')).update(gzip)).toThrow(/gzip/);
});

describe('an object whose key ends in .pdf', () => {
  const CORRUPT = 'failed verification';
  const digestOf = (size?: number) =>
    new Digest('signed.PDF', { ...facts('SHA1', ''), size, checksum: undefined });

  it('is accepted if its first bytes arrive in pieces', () => {
    const digest = digestOf(9);
    for (const piece of ['%', 'PDF', '-1.7 ']) digest.update(Buffer.from(piece));
    expect(digest.result().bytes).toBe(9);
  });

  it('is refused with its fifth byte, or at its end if it is shorter', () => {
    expect(() => digestOf().update(Buffer.from('<html'))).toThrow(CORRUPT);
    expect(() => digestOf().update(Buffer.from(' %PDF-1.7'))).toThrow(CORRUPT);
    const short = digestOf();
    short.update(Buffer.from('%PDF'));
    expect(() => short.result()).toThrow(CORRUPT);
  });

  it('is refused with the first byte too many, and with a byte too few at its end', () => {
    const digest = digestOf(9);
    digest.update(Buffer.from('%PDF-1.7'));
    expect(() => digest.result()).toThrow(CORRUPT);
    expect(() => digest.update(Buffer.from('  '))).toThrow(CORRUPT);
  });
});
