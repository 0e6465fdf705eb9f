import { type FileHandle, open } from 'node:fs/promises';
import { writeLine } from './line.ts';

/** The number of bytes written at a time. Between two slices, other work can run. */
const SLICE = 256 * 1024;
/** The maximum number of bytes not yet synced, so that no single fsync takes long. */
const MAX_UNSYNCED_BYTES = 8 * 1024 * 1024;

/** How to compact a journal, so that its file doesn't grow indefinitely. */
export interface Compaction<T> {
  /**
   * Returns the entries that rebuild the current state. They are read in small portions while other entries are appended, so an
   * entry may be among them and also follow them. Replaying it twice must change nothing.
   */
  snapshot: () => Iterable<T>;
  /** The minimum size of a file to compact, in bytes. */
  least?: number;
}

/** A new file that is about to replace a journal. */
export class Draft {
  readonly #file: FileHandle;
  #size = 0;
  #unsynced = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Creates an empty file at the path, and overwrites what an earlier run left there. */
  static async at(path: string): Promise<Draft> {
    return new Draft(await open(path, 'w', 0o600));
  }

  get size(): number {
    return this.#size;
  }

  /** Appends entries as lines. */
  async write(entries: Iterable<unknown>): Promise<void> {
    let slice: string[] = [];
    let length = 0;
    for (const entry of entries) {
      const line = writeLine(entry);
      slice.push(line);
      length += line.length;
      if (length < SLICE) continue;
      await this.append(Buffer.from(slice.join('')));
      slice = [];
      length = 0;
    }
    await this.append(Buffer.from(slice.join('')));
  }

  /** Appends the bytes of another file between two offsets. */
  async copy(path: string, from: number, to: number): Promise<void> {
    const source = await open(path, 'r');
    try {
      for (let at = from; at < to; ) {
        const { bytesRead, buffer } = await source.read(Buffer.alloc(Math.min(SLICE, to - at)), 0, null, at);
        if (bytesRead === 0) throw new Error(`${path} was truncated`);
        await this.append(buffer.subarray(0, bytesRead));
        at += bytesRead;
      }
    } finally {
      await source.close();
    }
  }

  async sync(): Promise<void> {
    await this.#file.datasync();
    this.#unsynced = 0;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Appends bytes unchanged. */
  async append(bytes: Buffer): Promise<void> {
    await this.#file.appendFile(bytes);
    this.#size += bytes.length;
    this.#unsynced += bytes.length;
    if (this.#unsynced > MAX_UNSYNCED_BYTES) await this.sync();
  }
}
