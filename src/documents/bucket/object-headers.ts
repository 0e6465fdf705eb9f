import { startMd5 } from '../../kernel/digest.ts';

const CHECKSUM_ALGORITHMS = ['CRC64NVME', 'CRC32C', 'CRC32', 'SHA256', 'SHA1'] as const;
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number];

/** A checksum of the whole object, base64-encoded. */
export interface Checksum {
  algorithm: ChecksumAlgorithm;
  value: string;
}

export interface ObjectMetadata {
  /** The size of the whole object in bytes, if the bucket returned it. */
  size: number | undefined;
  /** The ETag as sent, with its quotes. */
  etag: string | undefined;
  /** The MD5 of the object in hex, if the ETag is an MD5 and Node can compute one. */
  md5: string | undefined;
  checksum: Checksum | undefined;
}

/** Returns true if the content can be verified, not only its length. */
export function hasContentHash(facts: ObjectMetadata): boolean {
  return facts.md5 !== undefined || facts.checksum !== undefined;
}

/** Returns true if the ETag identifies the content. A weak ETag doesn't. */
export function isStrongEtag(etag: string | undefined): etag is string {
  return etag !== undefined && !etag.startsWith('W/');
}

export interface OpenedObject {
  facts: ObjectMetadata;
  /** The offset in the object of the body's first byte. */
  from: number;
  body: AsyncIterable<Uint8Array>;
  /** Discards an unread body. */
  cancel(): void;
}

export type BucketHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Returns one header of a response. */
export function headerOf(headers: BucketHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** Returns what the headers of a response say about an object, and the offset of the body's first byte. */
export function metadataFromHeaders(headers: BucketHeaders): { facts: ObjectMetadata; from: number } {
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headerOf(headers, 'content-range') ?? '');
  const size = Number(range === null ? headerOf(headers, 'content-length') : range[2]);
  return {
    facts: {
      size: Number.isNaN(size) ? undefined : size,
      etag: headerOf(headers, 'etag'),
      md5: md5Of(headers),
      checksum: checksumOf(headers),
    },
    from: range === null ? 0 : Number(range[1]),
  };
}

/**
 * Returns the MD5 in the ETag, if it is one. The ETag of an object encrypted with its own key (KMS, SSE-C) looks like an MD5, but isn't.
 */
function md5Of(headers: BucketHeaders): string | undefined {
  const hasOwnKey =
    headerOf(headers, 'x-amz-server-side-encryption-customer-algorithm') !== undefined ||
    headerOf(headers, 'x-amz-server-side-encryption')?.startsWith('aws:kms') === true;
  const etag = headerOf(headers, 'etag')?.replaceAll('"', '').toLowerCase();
  const isMd5 = !hasOwnKey && etag !== undefined && /^[0-9a-f]{32}$/.test(etag);
  return isMd5 && startMd5() !== undefined ? etag : undefined;
}

/** Returns the checksum of the whole object. A checksum of the parts' checksums can't be used. */
function checksumOf(headers: BucketHeaders): Checksum | undefined {
  if (headerOf(headers, 'x-amz-checksum-type') === 'COMPOSITE') return undefined;
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    const value = headerOf(headers, `x-amz-checksum-${algorithm.toLowerCase()}`);
    if (value !== undefined && !value.includes('-')) return { algorithm, value };
  }
  return undefined;
}
