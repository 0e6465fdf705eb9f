import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHECKSUM_ALGORITHMS, startChecksum } from '../../../src/sandbox/bucket/checksums.ts';

/** The published check values for "123456789", from the CRC catalogues and FIPS 180. */
const CHECK = {
  CRC32: 'cbf43926',
  CRC32C: 'e3069283',
  CRC64NVME: 'ae8b14860a799888',
  SHA1: 'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
  SHA256: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
};

describe.each(CHECKSUM_ALGORITHMS)('the checksum %s', (algorithm) => {
  const sumOf = (...chunks: Uint8Array[]) => {
    const sum = startChecksum(algorithm);
    for (const chunk of chunks) sum.update(chunk);
    return sum.digest().toString('hex');
  };

  it('has its published check value', () => {
    expect(sumOf(Buffer.from('123456789'))).toBe(CHECK[algorithm]);
  });

  it('is the same for any chunking', { tags: ['full'] }, () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), (chunks) => {
        expect(sumOf(...chunks)).toBe(sumOf(Buffer.concat(chunks)));
      }),
    );
  });
});

it('equals zlib’s CRC32 for any bytes, in four bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const sum = startChecksum('CRC32');
      sum.update(bytes);
      expect(sum.digest().readUInt32BE()).toBe(crc32(bytes));
    }),
  );
});
