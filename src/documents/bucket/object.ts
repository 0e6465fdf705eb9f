import { Readable } from 'node:stream';
import { startMd5 } from '../../kernel/digest.ts';
import { counted } from '../../kernel/duration.ts';

export const CHECKSUM_ALGORITHMS = ['CRC64NVME', 'CRC32C', 'CRC32', 'SHA256', 'SHA1'] as const;
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number];

/** A checksum of the whole object, base64-encoded. */
export interface Checksum {
  algorithm: ChecksumAlgorithm;
  value: string;
}

export interface ObjectFacts {
  /** The size of the whole object in bytes, if the bucket returned it. */
  size: number | undefined;
  /** The ETag as sent, with its quotes. */
  etag: string | undefined;
  /** The MD5 of the object in hex, if the ETag is an MD5 and Node can compute one. */
  md5: string | undefined;
  checksum: Checksum | undefined;
  /** ISO 8601. */
  modified?: string | undefined;
  contentType?: string | undefined;
  encryption?: string | undefined;
  storageClass?: string | undefined;
}

/** Returns true if the content can be verified, not only its length. */
export function isProvable(facts: ObjectFacts): boolean {
  return facts.md5 !== undefined || facts.checksum !== undefined;
}

/** Returns true if the ETag identifies the content. A weak ETag doesn't. */
export function isStrong(etag: string | undefined): etag is string {
  return etag !== undefined && !etag.startsWith('W/');
}

export interface OpenedObject {
  kind: 'object';
  facts: ObjectFacts;
  /** The offset in the object of the body's first byte. */
  from: number;
  body: AsyncIterable<Uint8Array>;
  /** Discards an unread body. */
  cancel(): void;
}

/** The opened object, or the result of a condition: `same` if it is still the expected object, `changed` if not. */
export type Opened = OpenedObject | { kind: 'same' } | { kind: 'changed' };

/** A response from the SDK's request handler. */
export interface PlainResponse {
  statusCode: number;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

/** The fields of a response that describe its object, with the SDK's names. */
export interface ObjectResponse {
  ContentLength?: number | undefined;
  ContentRange?: string | undefined;
  ETag?: string | undefined;
  ServerSideEncryption?: string | undefined;
  SSECustomerAlgorithm?: string | undefined;
  ChecksumType?: string | undefined;
  ChecksumCRC64NVME?: string | undefined;
  ChecksumCRC32C?: string | undefined;
  ChecksumCRC32?: string | undefined;
  ChecksumSHA256?: string | undefined;
  ChecksumSHA1?: string | undefined;
  LastModified?: Date | undefined;
  ContentType?: string | undefined;
  StorageClass?: string | undefined;
}

/** Returns the opened object of a plain response. `stallMs`: how long to wait for the next bytes. */
export function openedFromPlainGet({ statusCode, headers, body }: PlainResponse, stallMs: number): Opened {
  const answered = openedForStatus(statusCode);
  if (answered === undefined) return openedOf({ ...replyOf(headers), Body: body }, stallMs);
  if (body instanceof Readable) body.resume();
  return answered;
}

export function openedForStatus(status: number | undefined): Opened | undefined {
  if (status === 304) return { kind: 'same' };
  return status === 412 || status === 416 ? { kind: 'changed' } : undefined;
}

export function openedOf(reply: ObjectResponse & { Body?: unknown }, stallMs: number): OpenedObject {
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(reply.ContentRange ?? '');
  const total = range === null ? reply.ContentLength : Number(range[2]);
  const size = total === undefined || Number.isNaN(total) ? undefined : total;
  return {
    kind: 'object',
    facts: factsOf(reply, size),
    from: range === null ? 0 : Number(range[1]),
    body: bytesOf(reply.Body, stallMs),
    cancel: () => {
      if (reply.Body instanceof Readable) reply.Body.destroy();
    },
  };
}

/**
 * Yields the bytes as they arrive, and throws if the body is incomplete. Only waiting for bytes counts as a stall, not a slow consumer. The
 * SDK declares several types of bodies; in Node it is always a stream.
 */
async function* bytesOf(body: unknown, stallMs: number): AsyncGenerator<Uint8Array, void, undefined> {
  if (!(body instanceof Readable)) return;
  const watch = () =>
    setTimeout(
      () => body.destroy(new Error(`no data for ${counted(Math.round(stallMs / 1_000), 'second')}`)),
      stallMs,
    );
  let timer = watch();
  try {
    const chunks: AsyncIterable<unknown> = body;
    for await (const chunk of chunks) {
      clearTimeout(timer);
      if (chunk instanceof Uint8Array) yield chunk;
      timer = watch();
    }
  } finally {
    clearTimeout(timer);
  }
}

function replyOf(headers: PlainResponse['headers']): ObjectResponse {
  const { 'content-length': length, 'last-modified': modified } = headers;
  return {
    ContentLength: length === undefined ? undefined : Number(length),
    ContentRange: headers['content-range'],
    ETag: headers.etag,
    ServerSideEncryption: headers['x-amz-server-side-encryption'],
    SSECustomerAlgorithm: headers['x-amz-server-side-encryption-customer-algorithm'],
    ChecksumType: headers['x-amz-checksum-type'],
    ChecksumCRC64NVME: headers['x-amz-checksum-crc64nvme'],
    ChecksumCRC32C: headers['x-amz-checksum-crc32c'],
    ChecksumCRC32: headers['x-amz-checksum-crc32'],
    ChecksumSHA256: headers['x-amz-checksum-sha256'],
    ChecksumSHA1: headers['x-amz-checksum-sha1'],
    LastModified: modified === undefined ? undefined : new Date(modified),
    ContentType: headers['content-type'],
    StorageClass: headers['x-amz-storage-class'],
  };
}

export function factsOf(reply: ObjectResponse, size: number | undefined): ObjectFacts {
  const modified = reply.LastModified;
  return {
    size,
    etag: reply.ETag,
    md5: md5Of(reply),
    checksum: checksumOf(reply),
    modified: modified && !Number.isNaN(modified.getTime()) ? modified.toISOString() : undefined,
    contentType: reply.ContentType,
    encryption: reply.ServerSideEncryption ?? reply.SSECustomerAlgorithm,
    storageClass: reply.StorageClass,
  };
}

/**
 * Returns the MD5 in the ETag, if it is one. The ETag of an object encrypted with its own key (KMS, SSE-C) looks like an MD5, but isn't.
 */
function md5Of(reply: ObjectResponse): string | undefined {
  const ownKey =
    reply.SSECustomerAlgorithm !== undefined || reply.ServerSideEncryption?.startsWith('aws:kms') === true;
  const etag = reply.ETag?.replaceAll('"', '').toLowerCase();
  const isMd5 = !ownKey && etag !== undefined && /^[0-9a-f]{32}$/.test(etag);
  return isMd5 && startMd5() !== undefined ? etag : undefined;
}

/** Returns the checksum of the whole object. A checksum of the parts' checksums can't be used. */
function checksumOf(reply: ObjectResponse): Checksum | undefined {
  if (reply.ChecksumType === 'COMPOSITE') return undefined;
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    const value = reply[`Checksum${algorithm}`];
    if (value !== undefined && !value.includes('-')) return { algorithm, value };
  }
  return undefined;
}
