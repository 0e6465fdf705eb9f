import { crc32 } from 'node:zlib';
import type { Envelope } from '../../api/schemas.ts';
import { entryOf, type IndexEntry, type IndexEvent } from './entry.ts';
import { appendToIndex } from './index-writer.ts';

/** Lines per write. A killed process loses at most this many. */
const LINES_PER_WRITE = 50;

/**
 * Adds the envelopes read from the service to the index. An envelope is added again only if it has changed. If the disk can't be
 * written to, the command continues without adding them.
 */
export class Feed {
  readonly path: string;
  /** A checksum of the last line added for each envelope. */
  readonly #taken = new Map<string, number>();
  #waiting: (IndexEntry | IndexEvent)[] = [];
  /** True once a write has failed; later reads are missing from the file. */
  hasFailed = false;

  constructor(path: string) {
    this.path = path;
  }

  /** `alone`: the envelope was requested by its ID. */
  envelope(seen: Envelope, alone: boolean): void {
    const entry = entryOf(seen, alone, Date.now());
    const sum = crc32(JSON.stringify(seen), entry.known === 'part' ? 0 : 1);
    if (this.#taken.get(entry.id) === sum) return;
    this.#taken.set(entry.id, sum);
    this.#take(entry);
  }

  gone(id: string): void {
    this.#taken.delete(id);
    this.#take({ gone: id, seen: Date.now() });
  }

  /** Records that the index is complete; see Completeness. */
  complete(upTo: number, extra: number): void {
    this.#take({ complete: Date.now(), upTo, extra });
  }

  /** Writes the pending lines. */
  flush(): void {
    const entries = this.#waiting;
    this.#waiting = [];
    if (this.hasFailed || entries.length === 0) return;
    try {
      appendToIndex(this.path, entries);
    } catch {
      this.hasFailed = true;
    }
  }

  #take(line: IndexEntry | IndexEvent): void {
    this.#waiting.push(line);
    if (this.#waiting.length >= LINES_PER_WRITE) this.flush();
  }
}
