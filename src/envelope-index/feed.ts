import { crc32 } from 'node:zlib';
import type { Envelope } from '../api/schemas.ts';
import { type Entry, entryOf, type Remark } from './entry.ts';
import type { IndexFile } from './index-file.ts';
import type { Observer } from './observed.ts';

/** So many are written at a time; a process that is killed loses no more. */
const BATCH = 50;

/**
 * Takes what is read from the service into the index, each envelope only when it is not as it was when this process took
 * it last. A disk that takes nothing is no one's trouble: the index will know less.
 */
export class Feed implements Pick<Observer, 'envelope'> {
  readonly #file: IndexFile;
  readonly #now: () => number;
  /** Of each envelope, a checksum of what was taken last. */
  readonly #taken = new Map<string, number>();
  #waiting: (Entry | Remark)[] = [];
  #hasFailed = false;
  /** Bytes added since the file was last looked at. */
  #written = 0;

  constructor(file: IndexFile, now: () => number) {
    this.#file = file;
    this.#now = now;
  }

  /** True once the file could not be written: what was read since is not in it. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  envelope(seen: Envelope, alone: boolean): void {
    const entry = entryOf(seen, alone, this.#now());
    const sum = crc32(JSON.stringify(seen), entry.known === 'part' ? 0 : 1);
    if (this.#taken.get(entry.id) === sum) return;
    this.#taken.set(entry.id, sum);
    this.#take(entry);
  }

  /** A verified webhook told of it. */
  touched(id: string, status: string): void {
    this.#take({ touched: id, status, seen: this.#now() });
  }

  /** The service has it no more. */
  gone(id: string): void {
    this.#taken.delete(id);
    this.#take({ gone: id, seen: this.#now() });
  }

  /** All that the service has is known; see Completeness. */
  complete(upTo: number, extra: number): void {
    this.#take({ complete: this.#now(), upTo, extra });
  }

  /** Writes what waits. */
  flush(): void {
    const entries = this.#waiting;
    this.#waiting = [];
    if (this.#hasFailed || entries.length === 0) return;
    try {
      this.#written += this.#file.append(entries);
    } catch {
      this.#hasFailed = true;
    }
  }

  /** Writes what waits, and looks whether the file is to be written anew. */
  async settle(): Promise<void> {
    this.flush();
    const by = this.#written;
    this.#written = 0;
    if (await this.#file.hasGrown(by)) await this.#file.tidyIfFree().catch(() => undefined);
  }

  #take(line: Entry | Remark): void {
    if (this.#hasFailed) return;
    this.#waiting.push(line);
    if (this.#waiting.length >= BATCH) this.flush();
  }
}
