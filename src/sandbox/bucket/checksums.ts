import { createHash } from 'node:crypto';
import { type Crc, createCrc32, createCrc32c, createCrc64Nvme } from '../../kernel/crc.ts';

/** The checksums S3 keeps with an object. */
export const CHECKSUM_ALGORITHMS = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;
export type S3ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number];

/** What S3 takes when a client asks for none. */
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

/** Any hash Node knows, as a checksum. */
export function startHash(name: string): Crc {
  const hash = createHash(name);
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
}

/** The algorithm of that name, in either case; undefined when S3 has none of it. */
export function algorithmOf(name: string): S3ChecksumAlgorithm | undefined {
  return CHECKSUM_ALGORITHMS.find((algorithm) => algorithm === name.toUpperCase());
}

/** The header, trailer or stored name, like x-amz-checksum-crc32. */
export function checksumHeader(algorithm: S3ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** The bytes of an object on their way to the store. */
export interface Body {
  chunks: AsyncIterable<Uint8Array>;
  /**
   * To be called once all chunks were read: the checksums to keep, header name to base64.
   * Throws an S3Error when the bytes are not what was signed or promised.
   */
  check(): Record<string, string>;
}

/** Bytes that nobody promised anything about: a checksum is taken as they pass. */
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
