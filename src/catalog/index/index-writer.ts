import type { Envelope } from '../../api/resource-types.ts';
import { checksummedLine, writeLine } from '../../lines/checksummed-line.ts';
import { entryOf, type IndexEvent } from './entry.ts';
import type { IndexStore } from './index-store.ts';

/** Lines per write. A killed process loses at most this many. */
const LINES_PER_WRITE = 50;

/**
 * Appends to an index, which several processes may do at the same time. If the disk can't be written to, the command continues
 * without.
 */
export class IndexWriter {
  readonly store: IndexStore;
  /** The checksum of the last line of each envelope, as far as it is known. */
  readonly #last = new Map<string, number>();
  #waiting: string[] = [];
  /** True once a write has failed: later lines are missing from the file. */
  hasFailed = false;

  constructor(store: IndexStore) {
    this.store = store;
  }

  /** Sets the checksum of the line that the file has of an envelope, which is only added again if it has changed. */
  note(id: string, checksum: number | undefined): void {
    if (checksum === undefined) this.#last.delete(id);
    else this.#last.set(id, checksum);
  }

  /** Adds an envelope that was read or written, if it has changed, and returns its checksum. `alone`: it was requested by its ID. */
  envelope(seen: Envelope, alone: boolean): number {
    const { line, checksum } = checksummedLine(entryOf(seen, alone));
    if (this.#last.get(seen.id) !== checksum) this.#append(line);
    this.note(seen.id, checksum);
    return checksum;
  }

  event(event: IndexEvent): void {
    if ('gone' in event) this.#last.delete(event.gone);
    this.#append(writeLine(event));
  }

  /** Deletes the index. The next query reads every envelope. */
  clear(): void {
    this.#waiting = [];
    this.#last.clear();
    this.store.clear();
  }

  /** Writes the pending lines. */
  flush(): void {
    const lines = this.#waiting;
    this.#waiting = [];
    if (this.hasFailed || lines.length === 0) return;
    try {
      this.store.append(lines.join(''));
    } catch {
      this.hasFailed = true;
    }
  }

  #append(line: string): void {
    this.#waiting.push(line);
    if (this.#waiting.length >= LINES_PER_WRITE) this.flush();
  }
}
