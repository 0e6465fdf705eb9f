import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { StorageError } from '../kernel/errors.ts';

/** Takes the bytes of a file as they come and judges them at the end: size, MD5 where the ETag is one, the PDF head. */
export class PaperCheck {
  readonly #key: string;
  #sha256 = createHash('sha256');
  #md5 = createHash('md5');
  #head = Buffer.alloc(0);
  #bytes = 0;

  constructor(key: string) {
    this.#key = key;
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  take(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    this.#sha256.update(chunk);
    this.#md5.update(chunk);
    if (this.#head.length < 5) this.#head = Buffer.concat([this.#head, chunk.subarray(0, 5)]);
  }

  /** Forgets everything: the object has to be fetched from its start. */
  restart(): void {
    this.#sha256 = createHash('sha256');
    this.#md5 = createHash('md5');
    this.#head = Buffer.alloc(0);
    this.#bytes = 0;
  }

  /** Takes what an earlier run has written. */
  async takeFile(path: string): Promise<void> {
    for await (const chunk of createReadStream(path))
      this.take(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  }

  /** @throws StorageError STORAGE_CORRUPT when the bytes are not the object that the bucket spoke of. */
  result(told: { size: number | undefined; etag: string | undefined }): { bytes: number; sha256: string } {
    const key = this.#key;
    const etag = told.etag?.replaceAll('"', '').toLowerCase();
    const isMd5 = etag !== undefined && /^[0-9a-f]{32}$/.test(etag);
    if (told.size === undefined) throw corrupt(key, 'the bucket did not say how long it is');
    if (told.size !== this.#bytes) throw corrupt(key, `${this.#bytes} of ${told.size} bytes arrived`);
    if (isMd5 && etag !== this.#md5.digest('hex')) throw corrupt(key, 'its checksum (ETag) is wrong');
    if (key.endsWith('.pdf') && this.#head.subarray(0, 5).toString('latin1') !== '%PDF-')
      throw corrupt(key, 'it is not a PDF');
    return { bytes: this.#bytes, sha256: this.#sha256.digest('hex') };
  }
}

function corrupt(key: string, why: string): StorageError {
  return new StorageError('STORAGE_CORRUPT', `What the bucket sent for ${key} was refused: ${why}.`, {
    hint: 'Run the command again; if it stays, check what lies in the bucket under this key.',
  });
}
