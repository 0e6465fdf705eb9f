import { createHash } from 'node:crypto';
import { Crc32, Crc32c, Crc64Nvme } from '@aws-sdk/checksums/crc';
import { startMd5 } from '../../kernel/digest.ts';
import { StorageError } from '../../kernel/errors.ts';
import type { ChecksumAlgorithm, ObjectMetadata } from '../bucket/object-headers.ts';

/** The length and hash of an object's bytes, and what they were compared with. */
export interface FileHash {
  bytes: number;
  sha256: string;
  /** What proves the content: a checksum of the bucket, or the MD5 in its ETag. Undefined if only the length could be compared. */
  proof: 'checksum' | 'etag' | undefined;
  /** True if the ETag looks like an MD5 and isn't the one of these bytes: they are wrong, or the ETag is something else. */
  hasOtherEtag: boolean;
}

const PDF_HEAD = '%PDF-';
/** The first bytes of gzip (RFC 1952, section 2.3.1) as Latin-1. An object with Content-Encoding gzip is downloaded as it is stored. */
const GZIP_HEAD = '\x1F\x8B';

/** The first line of an upload in chunks (aws-chunked), which some buckets store with the object. */
const UPLOAD_FRAME = /^[0-9a-f]{1,8}(;chunk-signature=|\r\n%PDF-)/i;
const HEAD_BYTES = 40;

/** Hashes bytes as they arrive and compares them with the object's metadata from the bucket. */
export class DownloadDigest {
  bytes = 0;
  #head = '';
  readonly #sha256 = createHash('sha256');
  readonly #md5;
  readonly #checksum: RunningChecksum | undefined;
  readonly #key: string;
  readonly #facts: ObjectMetadata;

  constructor(key: string, facts: ObjectMetadata) {
    this.#key = key;
    this.#facts = facts;
    const proof = proofOf(facts);
    this.#md5 = proof === 'etag' ? startMd5() : undefined;
    this.#checksum =
      proof === 'checksum' && facts.checksum ? createChecksum(facts.checksum.algorithm) : undefined;
  }

  /** Adds bytes. @throws StorageError STORAGE_CORRUPT as soon as the bytes can't be the object's. */
  update(chunk: Uint8Array): void {
    const missing = HEAD_BYTES - this.#head.length;
    if (missing > 0) this.#head += Buffer.from(chunk.subarray(0, missing)).toString('latin1');
    this.bytes += chunk.byteLength;
    if (this.bytes >= PDF_HEAD.length) this.#judgeHead();
    if (this.#facts.size !== undefined && this.bytes > this.#facts.size)
      throw corruptFileError(this.#key, `more than its ${this.#facts.size} bytes arrived`);
    this.#sha256.update(chunk);
    this.#md5?.update(chunk);
    this.#checksum?.update(chunk);
  }

  #judgeHead(): void {
    if (!this.#key.toLowerCase().endsWith('.pdf') || this.#head.startsWith(PDF_HEAD)) return;
    throw corruptFileError(this.#key, reasonFor(this.#head));
  }

  /** Returns the length and hash of all bytes. @throws StorageError STORAGE_CORRUPT if the bytes aren't the object. */
  async result(): Promise<FileHash> {
    const { size, md5, checksum } = this.#facts;
    if (size !== undefined && size !== this.bytes)
      throw corruptFileError(this.#key, `${this.bytes} of ${size} bytes arrived`);
    this.#judgeHead();
    const digest = await this.#checksum?.digest();
    if (digest !== undefined && Buffer.from(digest).toString('base64') !== checksum?.value)
      throw corruptFileError(this.#key, `its checksum (${checksum?.algorithm ?? ''}) does not match`);
    const hasOtherEtag = this.#md5 !== undefined && this.#md5.digest('hex') !== md5;
    const proof = hasOtherEtag ? undefined : proofOf(this.#facts);
    return { bytes: this.bytes, sha256: this.#sha256.digest('hex'), proof, hasOtherEtag };
  }
}

/** Returns which of the two to compare. One is enough, and checksums without a native implementation are slow. */
function proofOf({ md5, checksum }: ObjectMetadata): FileHash['proof'] {
  if (checksum === undefined) return md5 === undefined ? undefined : 'etag';
  const isSlow = checksum.algorithm === 'CRC64NVME' || checksum.algorithm === 'CRC32C';
  return isSlow && md5 !== undefined ? 'etag' : 'checksum';
}

/** A checksum of bytes as they arrive. */
interface RunningChecksum {
  update(bytes: Uint8Array): void;
  digest(): Uint8Array | Promise<Uint8Array>;
}

function createChecksum(algorithm: ChecksumAlgorithm): RunningChecksum {
  if (algorithm === 'CRC32') return new Crc32();
  if (algorithm === 'CRC32C') return new Crc32c();
  if (algorithm === 'CRC64NVME') return new Crc64Nvme();
  const hash = createHash(algorithm);
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
}

/** Returns why an object that begins like this is not a PDF. */
function reasonFor(head: string): string {
  if (head.startsWith(GZIP_HEAD)) return 'it is gzip-encoded, not a PDF';
  return UPLOAD_FRAME.test(head)
    ? 'it contains the framing of an upload (aws-chunked), which the program that uploaded it must turn off (requestChecksumCalculation: WHEN_REQUIRED)'
    : 'it is not a PDF';
}

/** Creates the error for bytes that aren't the object. */
export function corruptFileError(key: string, why: string): StorageError {
  return new StorageError('STORAGE_CORRUPT', `${key} failed verification: ${why}.`, {
    hint: 'Run the command again. If it fails again, check the object in the bucket.',
  });
}
