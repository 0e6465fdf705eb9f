import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { cut, type TakeLine } from '../../lines/read-lines.ts';
import type { IndexStore, StoredLines } from './index-store.ts';

/** Lines that were appended together. */
interface Block {
  start: number;
  end: number;
  compressed: Buffer;
}

/**
 * The index of one command, if none is stored. Its lines are compressed: 100,000 envelopes would otherwise take 150 MB. The lines of
 * a list are much alike, so the fastest compression is enough.
 */
export class MemoryStore implements IndexStore, StoredLines {
  readonly place = 'memory';
  readonly isKept = false;
  #blocks: Block[] = [];
  /** The block that was read last, and its lines. */
  #block: Block | undefined;
  #lines: Buffer = Buffer.alloc(0);

  append(text: string): void {
    const bytes = Buffer.from(text);
    const start = this.#blocks.at(-1)?.end ?? 0;
    // A copy, because what zlib returns is a part of a larger buffer.
    const compressed = Buffer.from(deflateRawSync(bytes, { level: 1 }));
    this.#blocks.push({ start, end: start + bytes.length, compressed });
  }

  clear(): void {
    this.#blocks = [];
  }

  async identity(): Promise<string> {
    return this.place;
  }

  async eachLine(from: number, take: TakeLine): Promise<void> {
    // All lines were read before, so what is new begins with a block.
    for (const block of this.#blocks.filter(({ start }) => start >= from))
      cut(inflateRawSync(block.compressed), block.start, take);
  }

  open(): StoredLines {
    return this;
  }

  line(start: number, end: number): Buffer {
    if (this.#block === undefined || start < this.#block.start || start >= this.#block.end) {
      this.#block = this.#blocks.findLast((one) => one.start <= start);
      this.#lines = this.#block ? inflateRawSync(this.#block.compressed) : Buffer.alloc(0);
    }
    const from = start - (this.#block?.start ?? 0);
    return this.#lines.subarray(from, from + end - start);
  }

  close(): void {
    this.#block = undefined;
    this.#lines = Buffer.alloc(0);
  }

  async tidy(): Promise<boolean> {
    return false;
  }
}
