import { createHash } from 'node:crypto';
import { type Crc, createCrc32, createCrc32c, createCrc64Nvme } from '../../kernel/crc.ts';

/** The checksum algorithms that S3 supports for an object. */
export const CHECKSUM_ALGORITHMS = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;
export type S3ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number];

/** The algorithm that S3 uses if the client requests none. */
export const DEFAULT_ALGORITHM: S3ChecksumAlgorithm = 'CRC64NVME';

export function startChecksum(algorithm: S3ChecksumAlgorithm): Crc {
  switch (algorithm) {
    case 'CRC32':
      return createCrc32();
    case 'CRC32C':
      return createCrc32c();
    case 'CRC64NVME':
      return createCrc64Nvme();
    case 'SHA1':
    case 'SHA256':
      return startHash(algorithm);
  }
}

/** Creates a checksum from any hash algorithm that Node supports. */
export function startHash(name: string): Crc {
  const hash = createHash(name);
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
}

/** Returns the algorithm with a name, ignoring case; undefined if S3 doesn't support it. */
export function algorithmOf(name: string): S3ChecksumAlgorithm | undefined {
  return CHECKSUM_ALGORITHMS.find((algorithm) => algorithm === name.toUpperCase());
}

/** Returns the name used in headers, trailers, and storage, such as x-amz-checksum-crc32. */
export function checksumHeader(algorithm: S3ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** The body of an upload. */
export interface Body {
  chunks: AsyncIterable<Uint8Array>;
  /**
   * Returns the checksums to store, header name to base64. Call it after all chunks were read. Throws an S3Error if the bytes don't match
   * what was signed or declared.
   */
  check(): Record<string, string>;
}

/** Creates a body from bytes without declared checksums. A checksum is computed as they are read. */
export function summed(chunks: AsyncIterable<Uint8Array>, algorithm: S3ChecksumAlgorithm): Body {
  const sum = startChecksum(algorithm);
  async function* passing(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      sum.update(chunk);
      yield chunk;
    }
  }
  return {
    chunks: passing(),
    check: () => ({ [checksumHeader(algorithm)]: sum.digest().toString('base64') }),
  };
}
