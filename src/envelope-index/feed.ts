import { crc32 } from 'node:zlib';
import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { type Entry, entryOf, type Remark } from './entry.ts';
import { type IndexScope, IndexWriter } from './index-writer.ts';
import { type Observer, observed } from './observed.ts';

/** So many are written at a time; a process that is killed loses no more. */
const BATCH = 50;
/** Whenever the file has grown by so much, it is looked whether it should be written anew. */
const LOOK_EVERY = 32 * 1024 * 1024;

/** The feed of a scope's index, and the client whose every reply it takes note of. */
export function openFeed(
  stateDir: string,
  scope: IndexScope,
  client: Client,
  ...others: Observer[]
): { feed: Feed; client: Client } {
  const feed = new Feed(stateDir, scope);
  return { feed, client: observed(client, [feed, ...others]) };
}

/**
 * Takes what is read from the service into the index, each envelope only when it is not as it was when this process took
 * it last. A disk that takes nothing is no one's trouble: the index will know less.
 */
export class Feed implements Pick<Observer, 'envelope'> {
  readonly #stateDir: string;
  readonly #scope: IndexScope;
  readonly #file: IndexWriter;
  /** Of each envelope, a checksum of what was taken last. */
  readonly #taken = new Map<string, number>();
  #waiting: (Entry | Remark)[] = [];
  #hasFailed = false;
  /** Since it was last looked whether the file should be written anew. */
  #hasGrown = false;

  constructor(stateDir: string, scope: IndexScope) {
    this.#stateDir = stateDir;
    this.#scope = scope;
    this.#file = new IndexWriter(stateDir, scope);
  }

  /** True once the file could not be written: what was read since is not in it. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  envelope(seen: Envelope, alone: boolean): void {
    const entry = entryOf(seen, alone, Date.now());
    const sum = crc32(JSON.stringify(seen), entry.known === 'part' ? 0 : 1);
    if (this.#taken.get(entry.id) === sum) return;
    this.#taken.set(entry.id, sum);
    this.#take(entry);
  }

  /** A verified webhook told of it. */
  touched(id: string, status: string): void {
    this.#take({ touched: id, status, seen: Date.now() });
  }

  /** The service has it no more. */
  gone(id: string): void {
    this.#taken.delete(id);
    this.#take({ gone: id, seen: Date.now() });
  }

  /** All that the service has is known; see Completeness. */
  complete(upTo: number, extra: number): void {
    this.#take({ complete: Date.now(), upTo, extra });
  }

  /** Writes what waits. */
  flush(): void {
    const entries = this.#waiting;
    this.#waiting = [];
    if (this.#hasFailed || entries.length === 0) return;
    try {
      const { added, size } = this.#file.append(entries);
      this.#hasGrown ||= Math.floor(size / LOOK_EVERY) > Math.floor((size - added) / LOOK_EVERY);
    } catch {
      this.#hasFailed = true;
    }
  }

  /** Writes what waits, and the file anew where it has grown for nothing and no other process is at it. */
  async settle(): Promise<void> {
    this.flush();
    if (!this.#hasGrown) return;
    this.#hasGrown = false;
    const { IndexFile } = await import('./index-file.ts');
    await new IndexFile(this.#stateDir, this.#scope).tidyIfFree().catch(() => undefined);
  }

  #take(line: Entry | Remark): void {
    if (this.#hasFailed) return;
    this.#waiting.push(line);
    if (this.#waiting.length >= BATCH) this.flush();
  }
}
