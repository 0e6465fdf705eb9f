import type { Client } from '../../api/client.ts';
import { RESERVE } from '../../api/rate-window.ts';
import { READ_CONCURRENCY } from '../../api/request-defaults.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { timeOf } from '../../kernel/clock.ts';
import { mapAhead } from '../../kernel/streams.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';
import { hasChecksum } from '../../lines/checksummed-line.ts';
import { readIfExists } from '../envelope-list.ts';
import { isWholeItem } from '../searchable-texts.ts';
import type { Selection } from '../selection.ts';
import { envelopeIn } from './entry.ts';
import type { IndexStore, StoredLines } from './index-store.ts';
import type { IndexWriter } from './index-writer.ts';
import { ListComparison } from './list-comparison.ts';
import { readIndex } from './read-index.ts';
import type { IndexedEnvelope, Snapshot } from './snapshot.ts';

export interface IndexProgress {
  /** Reading the list, or envelopes one by one. */
  step: 'list' | 'each';
  done: number;
  total: number | undefined;
}

export interface UpdateOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: IndexProgress) => void) | undefined;
}

/** The index can't be written, so its content is incomplete. */
export class IndexUnusable extends Error {
  override readonly name = 'IndexUnusable';
}

/** How often the list or an envelope is read for one query, because another process may rewrite the file at the same time. */
const MAX_READINGS = 5;
/** Reading more envelopes than this at the same time leaves a share of the rate limit to other programs. */
const MANY = 20;
/** That share, and how long such a reading waits for the next window. */
const LARGE_READ_PACE = { reserve: RESERVE, maxWaitMs: 16 * 60_000 };

/** The local index of one account's envelopes, brought up to date for one query. */
export class EnvelopeIndex {
  readonly #store: IndexStore;
  readonly #client: Client;
  readonly #writer: IndexWriter;
  readonly #selection: Selection;
  readonly #options: UpdateOptions;
  #snapshot: Snapshot;
  /** The checksums of the envelopes that were read for this query. */
  readonly #fresh = new Map<string, number>();
  /** Indexed envelopes that are missing from the list, but new enough that they may still appear. */
  #unconfirmed: ReadonlySet<string> = new Set();
  /** Whether the items of the list have all fields; undefined before the first one. */
  #listsAll: boolean | undefined;
  #listed = 0;
  /** How often each envelope was read for this query. */
  readonly #readings = new Map<string, number>();
  /** Another process rewrote or deleted the file during the update, so that added lines may be missing. */
  #wasReplaced = false;

  private constructor(
    { client, writer }: { client: Client; writer: IndexWriter },
    selection: Selection,
    snapshot: Snapshot,
    options: UpdateOptions,
  ) {
    this.#store = writer.store;
    this.#client = client;
    this.#writer = writer;
    this.#selection = selection;
    this.#snapshot = snapshot;
    this.#options = options;
  }

  /** Reads the index as it is, without a request. `client` must add the envelopes that it gets by ID to `writer`. */
  static async open(
    account: { client: Client; writer: IndexWriter },
    selection: Selection,
    options: UpdateOptions = {},
  ): Promise<EnvelopeIndex> {
    const { store } = account.writer;
    account.writer.flush();
    const read = () => readIndex(store, selection);
    let snapshot = await read();
    if (await store.tidy(snapshot)) snapshot = await read();
    return new EnvelopeIndex(account, selection, snapshot, options);
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Returns the matching envelopes, newest first. */
  hits(): IndexedEnvelope[] {
    return this.#snapshot.hits(this.#now(), (one) => this.isCurrent(one));
  }

  hitFilter(): (one: IndexedEnvelope) => boolean {
    return this.#snapshot.hitFilter(this.#now(), (one) => this.isCurrent(one));
  }

  /** Returns true for an envelope that can't change anymore or was read for this query. */
  isCurrent({ id, known, checksum }: IndexedEnvelope): boolean {
    if (this.#fresh.get(id) === checksum) return true;
    return known === 'final' && !this.#unconfirmed.has(id);
  }

  /**
   * Finds new envelopes, then reads those that only a GET can decide and those that `wanted` returns, until all of them are current.
   * Reads the list instead of single envelopes if that takes fewer requests.
   * @throws IndexUnusable if the index can't be written.
   */
  async update(wanted: () => readonly IndexedEnvelope[]): Promise<void> {
    const isNew = this.#snapshot.completeness === undefined;
    for (let tries = 0; tries < MAX_READINGS; tries++) {
      await this.#paced(isNew, () => this.#findNew());
      await this.#readUnlisted();
      await this.#readOutdated(wanted);
      if (!this.#wasReplaced) return;
    }
    throw this.#doesNotKeepLines();
  }

  async #readOutdated(wanted: () => readonly IndexedEnvelope[]): Promise<void> {
    for (let mayList = true; !this.#wasReplaced; ) {
      const undecided = this.#snapshot.undecided(this.#now());
      const outdated = new Set([...undecided, ...wanted()].filter((one) => !this.isCurrent(one)));
      if (outdated.size === 0) return;
      for (const { id } of outdated) this.#countReading(id);
      const isListCheaper =
        this.#listsAll === true && outdated.size * LIMITS.pageSize > this.#snapshot.known.size;
      const read = () => (mayList && isListCheaper ? this.#readList() : this.#readEach([...outdated]));
      await this.#paced(outdated.size > MANY, read);
      mayList &&= !isListCheaper;
      await this.#readNewLines();
    }
  }

  /** Yields envelopes of the index. With `cached`, those that another process has just moved are left out. */
  async *stored(entries: Iterable<IndexedEnvelope>, { cached = false } = {}): AsyncGenerator<Envelope, void> {
    let lines: StoredLines | undefined;
    try {
      for (const one of entries) {
        lines ??= this.#store.open();
        const envelope = storedAt(lines, one) ?? (cached ? undefined : await this.#current(one.id));
        if (envelope !== undefined) yield envelope;
      }
    } finally {
      lines?.close();
    }
  }

  #now(): number {
    return this.#client.serviceClock.now();
  }

  /** Compares the index with the service's list: reads what is new or, if the counts differ, all of it. */
  async #findNew(): Promise<void> {
    this.#wasReplaced = false;
    const onItems = (items: readonly Envelope[], total: number | undefined) => this.#take(items, total);
    const list = new ListComparison(this.#client, this.#snapshot, onItems);
    const { seen, gone, unconfirmed, upTo, extra } = await list.run(this.#options.signal);
    this.#unconfirmed = unconfirmed;
    for (const id of gone) this.#writer.event({ gone: id });
    await this.#readNewLines();
    // A file that is new to this process may have been replaced before it was first read.
    for (const id of seen) this.#wasReplaced ||= !this.#snapshot.known.has(id);
    if (this.#wasReplaced) return;
    const count = this.#snapshot.known.size;
    this.#writer.event({ complete: Date.now(), upTo, count, extra });
    await this.#readNewLines();
  }

  /** Reads the envelopes of a run that only its journal knows, because the list lags behind it. */
  async #readUnlisted(): Promise<void> {
    const ids = [...(this.#selection.run?.envelopeIds ?? [])].filter((id) => !this.#snapshot.known.has(id));
    if (ids.length === 0) return;
    await this.#paced(ids.length > MANY, () =>
      this.#readEach(ids.map((id) => ({ id, checksum: undefined }))),
    );
    await this.#readNewLines();
  }

  #take(items: readonly Envelope[], total: number | undefined): void {
    for (const item of items) {
      const isWhole = isWholeItem(item);
      this.#listsAll = isWhole && this.#listsAll !== false;
      const { id, status, createdAt } = item;
      const facts = {
        id,
        status: status ?? '',
        created: timeOf(createdAt),
        known: isWhole ? 'whole' : 'part',
      } as const;
      if (this.#snapshot.noteItem(facts)) continue;
      this.#writer.note(id, this.#snapshot.known.get(id)?.checksum);
      const checksum = this.#writer.envelope(item, false);
      if (isWhole) this.#fresh.set(id, checksum);
    }
    this.#listed += items.length;
    this.#options.onProgress?.({ step: 'list', done: this.#listed, total });
  }

  async #readList(): Promise<void> {
    const { signal } = this.#options;
    this.#listed = 0;
    for await (const item of this.#client.envelopes.list({ signal }))
      this.#take([item], this.#snapshot.known.size);
  }

  async #readEach(outdated: readonly { id: string; checksum: number | undefined }[]): Promise<void> {
    let done = 0;
    const read = async (one: (typeof outdated)[number]) => {
      this.#writer.note(one.id, one.checksum);
      const envelope = await this.#current(one.id);
      if (envelope) this.#fresh.set(one.id, this.#writer.envelope(envelope, true));
    };
    for await (const _ of mapAhead(outdated, READ_CONCURRENCY, read))
      this.#options.onProgress?.({ step: 'each', done: ++done, total: outdated.length });
  }

  /** Ends the update if the file doesn't keep what is added to it, for example because something else keeps deleting it. */
  #countReading(id: string): void {
    const count = (this.#readings.get(id) ?? 0) + 1;
    this.#readings.set(id, count);
    if (count > MAX_READINGS) throw this.#doesNotKeepLines();
  }

  #doesNotKeepLines(): IndexUnusable {
    return new IndexUnusable(`${this.#store.place} doesn't keep what is added to it`);
  }

  /** Returns the current envelope; undefined if the service no longer has it. */
  async #current(id: string): Promise<Envelope | undefined> {
    const envelope = await readIfExists(this.#client, id, this.#options.signal);
    if (envelope?.id === id) return envelope;
    this.#writer.event({ gone: id });
    return undefined;
  }

  async #readNewLines(): Promise<void> {
    this.#writer.flush();
    if (this.#writer.hasFailed) throw new IndexUnusable(`${this.#store.place} can't be written`);
    const { file } = this.#snapshot;
    this.#snapshot = await readIndex(this.#store, this.#selection, this.#snapshot);
    this.#wasReplaced ||= file !== undefined && this.#snapshot.file !== file;
  }

  #paced<T>(isLarge: boolean, work: () => Promise<T>): Promise<T> {
    const { window } = this.#client;
    return isLarge && window ? window.withReserve(LARGE_READ_PACE, work) : work();
  }
}

/** Returns an envelope; undefined if the index was replaced since its position was read, and its line checked. */
function storedAt(lines: StoredLines, one: IndexedEnvelope): Envelope | undefined {
  const line = lines.line(one.start, one.end).subarray(0, -1);
  if (!hasChecksum(line, one.checksum)) return undefined;
  const envelope = envelopeIn(line);
  return envelope?.id === one.id ? envelope : undefined;
}
