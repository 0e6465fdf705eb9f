import { createHash } from 'node:crypto';

const FIRST_SIZE = 1_024;
/** The maximum share of used slots, which keeps searches short. */
const MAX_LOAD = 0.6;

/**
 * Maps contents to the line on which they first occur, for any number of lines at a few bytes each: a hash table of digests. Two
 * contents with the same 53 bits would be taken for one; among a hundred thousand, that is one chance in a million.
 */
export class LineIndex {
  #digests = new Float64Array(FIRST_SIZE);
  #lines = new Uint32Array(FIRST_SIZE);
  #used = 0;

  /** Returns the line on which this content first occurs. If it is new, stores this line and returns undefined. */
  firstLine(content: string, line: number): number | undefined {
    const digest = digestOf(content);
    const at = this.#find(digest);
    if (this.#digests[at] === digest) return this.#lines[at];
    this.#digests[at] = digest;
    this.#lines[at] = line;
    if (++this.#used > this.#digests.length * MAX_LOAD) this.#grow();
    return undefined;
  }

  /** Returns the slot of the digest, or the free slot where it belongs. */
  #find(digest: number): number {
    let at = digest % this.#digests.length;
    while (this.#digests[at] !== 0 && this.#digests[at] !== digest) at = (at + 1) % this.#digests.length;
    return at;
  }

  #grow(): void {
    const [digests, lines] = [this.#digests, this.#lines];
    this.#digests = new Float64Array(digests.length * 2);
    this.#lines = new Uint32Array(digests.length * 2);
    for (const [index, digest] of digests.entries()) {
      if (digest === 0) continue;
      const at = this.#find(digest);
      this.#digests[at] = digest;
      this.#lines[at] = lines[index] ?? 0;
    }
  }
}

/** Returns a digest of 53 bits that is never 0. */
function digestOf(content: string): number {
  const digest = createHash('sha1').update(content).digest();
  return digest.readUIntBE(0, 6) * 32 + ((digest[6] ?? 0) & 31) + 1;
}
