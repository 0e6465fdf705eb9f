import { createHash } from 'node:crypto';
import { type Crc, createCrc32, createCrc32c, createCrc64Nvme } from '../../kernel/crc.ts';
import { StorageError } from '../../kernel/errors.ts';
import type { ChecksumAlgorithm, ObjectFacts } from '../bucket/object-facts.ts';

/** What was counted of some bytes. */
export interface Counted {
  bytes: number;
  sha256: string;
}

const PDF_HEAD = '%PDF-';

/** Counts bytes as they pass and compares them with what the bucket said of them. */
export class Digest {
  bytes = 0;
  #head = '';
  readonly #sha256 = createHash('sha256');
  readonly #md5;
  readonly #checksum: Crc | undefined;
  readonly #key: string;
  readonly #facts: ObjectFacts;

  constructor(key: string, facts: ObjectFacts) {
    this.#key = key;
    this.#facts = facts;
    const proof = proofOf(facts);
    this.#md5 = proof === 'md5' ? createHash('md5') : undefined;
    this.#checksum =
      proof === 'checksum' && facts.checksum ? createChecksum(facts.checksum.algorithm) : undefined;
  }

  /** @throws StorageError STORAGE_CORRUPT as soon as it is clear that these are not the object's bytes. */
  update(chunk: Uint8Array): void {
    if (this.bytes < PDF_HEAD.length) this.#head += Buffer.from(chunk.subarray(0, 5)).toString('latin1');
    this.bytes += chunk.byteLength;
    if (this.bytes >= PDF_HEAD.length) this.#judgeHead();
    if (this.#facts.size !== undefined && this.bytes > this.#facts.size)
      throw corrupt(this.#key, `more than its ${this.#facts.size} bytes arrived`);
    this.#sha256.update(chunk);
    this.#md5?.update(chunk);
    this.#checksum?.update(chunk);
  }

  /** The SHA-256 of the bytes that passed so far. */
  soFar(): string {
    return this.#sha256.copy().digest('hex');
  }

  #judgeHead(): void {
    if (this.#key.toLowerCase().endsWith('.pdf') && !this.#head.startsWith(PDF_HEAD))
      throw corrupt(this.#key, 'it is not a PDF');
  }

  /** @throws StorageError STORAGE_CORRUPT when the bytes are not the object. */
  result(): Counted {
    const { size, md5, checksum } = this.#facts;
    if (size !== undefined && size !== this.bytes)
      throw corrupt(this.#key, `${this.bytes} of ${size} bytes arrived`);
    this.#judgeHead();
    if (this.#checksum !== undefined && this.#checksum.digest().toString('base64') !== checksum?.value)
      throw corrupt(this.#key, `its checksum (${checksum?.algorithm ?? ''}) is wrong`);
    if (this.#md5 !== undefined && this.#md5.digest('hex') !== md5)
      throw corrupt(this.#key, 'its checksum (ETag) is wrong');
    return { bytes: this.bytes, sha256: this.#sha256.digest('hex') };
  }
}

/** Which of the two is compared: one is enough, and those the runtime does not count itself are slow. */
function proofOf({ md5, checksum }: ObjectFacts): 'md5' | 'checksum' | undefined {
  if (checksum === undefined) return md5 === undefined ? undefined : 'md5';
  const isSlow = checksum.algorithm === 'CRC64NVME' || checksum.algorithm === 'CRC32C';
  return isSlow && md5 !== undefined ? 'md5' : 'checksum';
}

function createChecksum(algorithm: ChecksumAlgorithm): Crc {
  if (algorithm === 'CRC32') return createCrc32();
  if (algorithm === 'CRC32C') return createCrc32c();
  if (algorithm === 'CRC64NVME') return createCrc64Nvme();
  const hash = createHash(algorithm);
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
}

/** What arrived is not what the bucket promised. */
export function corrupt(key: string, why: string): StorageError {
  return new StorageError('STORAGE_CORRUPT', `What the bucket sent for ${key} was refused: ${why}.`, {
    hint: 'Run the command again; if it stays, look at the object: `esign documents head KEY`.',
  });
}
