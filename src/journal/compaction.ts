import { type FileHandle, open } from 'node:fs/promises';
import { writeLine } from './line.ts';

/** Bytes written at a time; between two of them others get their turn. */
const SLICE = 256 * 1024;
/** Bytes that may wait for the disk, so that no single fsync takes long. */
const UNSYNCED = 8 * 1024 * 1024;

/** How a journal keeps its file in proportion to what it says. */
export interface Compaction<T> {
  /**
   * Entries that rebuild the present state. They are read little by little while others are appended, so an entry may
   * be among them and come once more behind them: replaying it twice must change nothing.
   */
  snapshot: () => Iterable<T>;
  /** Bytes from which on a file is worth it. */
  least?: number;
}

/** What will take a journal's place. */
export class Draft {
  readonly #file: FileHandle;
  #size = 0;
  #unsynced = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** An empty file at the path, whatever an earlier run left there. */
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

  /** Appends the bytes of another file from an offset up to another one. */
  async copy(path: string, from: number, to: number): Promise<void> {
    const source = await open(path, 'r');
    try {
      for (let at = from; at < to; ) {
        const { bytesRead, buffer } = await source.read(Buffer.alloc(Math.min(SLICE, to - at)), 0, null, at);
        if (bytesRead === 0) throw new Error(`${path} became shorter`);
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

  /** Appends bytes as they are. */
  async append(bytes: Buffer): Promise<void> {
    await this.#file.appendFile(bytes);
    this.#size += bytes.length;
    this.#unsynced += bytes.length;
    if (this.#unsynced > UNSYNCED) await this.sync();
  }
}
