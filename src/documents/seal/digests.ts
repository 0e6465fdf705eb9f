import { createHash, type Hash } from 'node:crypto';
import type { PdfBytes } from './pdf-bytes.ts';
import { UnreadablePdfError } from './pdf-values.ts';
import type { Signature } from './signatures.ts';

/** How many times the bytes of a file may be hashed. In an ordinary file, any number of signatures take two passes at most. */
const MAX_PASSES = 4;

/** Hashes the bytes that signatures cover. All of them cover the file from its start, so shared bytes are hashed once. */
export class Digests {
  readonly #bytes: PdfBytes;
  readonly #prefixes = new Map<string, { hash: Hash; end: number }>();
  #left: number;

  constructor(bytes: PdfBytes) {
    this.#bytes = bytes;
    this.#left = MAX_PASSES * bytes.size;
  }

  /** Returns the digest of a range. Call it for ranges in the order of their ends. @throws UnreadablePdfError. */
  async of(algorithm: string, { gapStart, gapEnd, end }: NonNullable<Signature['range']>): Promise<Buffer> {
    const known = this.#prefixes.get(algorithm);
    const prefix =
      known !== undefined && known.end <= gapStart ? known : { hash: createHash(algorithm), end: 0 };
    await this.#hash(prefix.hash, prefix.end, gapStart);
    this.#prefixes.set(algorithm, { hash: prefix.hash, end: gapStart });
    const hash = prefix.hash.copy();
    await this.#hash(hash, gapEnd, end);
    return hash.digest();
  }

  async #hash(hash: Hash, start: number, end: number): Promise<void> {
    this.#left -= Math.max(0, Math.min(end, this.#bytes.size) - start);
    if (this.#left < 0) throw new UnreadablePdfError('Checking the signatures takes too much work.');
    for await (const block of this.#bytes.blocks(start, end)) hash.update(block);
  }
}
