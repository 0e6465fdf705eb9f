import type { Client } from '../api/client.ts';
import { READ_CONCURRENCY, RESERVE } from '../api/defaults.ts';
import type { Envelope } from '../api/schemas.ts';
import { readIfExists } from '../envelopes/marked-envelopes.ts';
import { mapAhead } from '../kernel/streams.ts';
import type { Feed } from './feed.ts';
import { IndexFile } from './index-file.ts';
import {
  canChange,
  type IndexedEnvelope,
  type IndexQuery,
  isListCheaper,
  isPartlyKnown,
  type Snapshot,
} from './snapshot.ts';
import { walkNew } from './walk.ts';

export interface IndexProgress {
  /** Reading the list, reading envelopes one by one, or waiting for another process that does either. */
  step: 'list' | 'each' | 'other-process';
  done: number;
  total: number | undefined;
}

export interface RefreshOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: IndexProgress) => void) | undefined;
  /** Decides whether a partly known envelope has to be read for this query. Default: all of them. */
  mayMatch?: ((one: IndexedEnvelope) => boolean) | undefined;
}

export interface RefreshAllOptions extends Pick<RefreshOptions, 'signal' | 'onProgress'> {
  /** Marks the hits of the snapshot. Default: every envelope. */
  query?: IndexQuery | undefined;
  /** Decides which envelopes are read again. Default: all that can still change. */
  mayHaveChanged?: ((one: IndexedEnvelope, snapshot: Snapshot) => boolean) | undefined;
}

/** The index after an update. */
export interface Refreshed {
  snapshot: Snapshot;
  /** Indexed envelopes that are missing from the service's list. Each has to be requested to see whether it exists. */
  unconfirmed: ReadonlySet<string>;
}

/** The index can't be written, so its content is incomplete. */
export class IndexUnusable extends Error {
  override readonly name = 'IndexUnusable';
}

/** Reading more envelopes than this takes a lock, so that two processes don't read the same ones. */
const LOCK_ABOVE = 20;
/** The share of the rate limit that large reads leave for other programs, and how long they wait for the next window. */
const LARGE_READ_PACE = { reserve: RESERVE, maxWaitMs: 16 * 60_000 };

/** The local index of one account's envelopes: a file that is updated for each query. */
export class EnvelopeIndex {
  readonly file: IndexFile;
  readonly client: Client;
  readonly #feed: Feed;

  /** `client` must add every response to `feed`. */
  constructor(feed: Feed, client: Client) {
    this.file = new IndexFile(feed.path);
    this.client = client;
    this.#feed = feed;
  }

  /** Returns the index as it is, without a request. */
  known(query?: IndexQuery): Promise<Snapshot> {
    this.#feed.flush();
    return this.file.read(query);
  }

  /**
   * Reads what the index lacks, and returns it. The first time, it reads every envelope; an interrupted update is resumed.
   * @throws IndexUnusable if the index can't be used and the envelopes have to be read from the service.
   */
  async refresh(query: IndexQuery, options: RefreshOptions = {}): Promise<Refreshed> {
    const { signal, onProgress } = options;
    const snapshot = await this.known(query);
    const isLarge =
      snapshot.completeness === undefined || this.#missing(snapshot, options).length > LOCK_ABOVE;
    if (!isLarge) return this.#update(snapshot, query, options);
    const waits = () => onProgress?.({ step: 'other-process', done: 0, total: undefined });
    const work = async () => this.#update(await this.known(query), query, options);
    return this.file.withLock(() => this.#withReserve(work), { signal, onWait: waits });
  }

  /** Reads the whole list, which takes fewer requests than reading many envelopes one by one. */
  async readList(
    query: IndexQuery,
    before: Refreshed,
    { signal, onProgress }: RefreshOptions,
  ): Promise<Refreshed> {
    const total = before.snapshot.known.size;
    let done = 0;
    for await (const _ of this.client.envelopes.list({ signal }))
      onProgress?.({ step: 'list', done: ++done, total });
    return { ...before, snapshot: await this.#readNewLines(query, before.snapshot) };
  }

  /**
   * Updates the index and returns it. Reads new and partly known envelopes and those that may have changed, one by one or as a
   * list, whichever takes fewer requests.
   * @throws IndexUnusable if the index can't be used and the envelopes have to be read from the service.
   */
  async refreshAll({
    query = {},
    mayHaveChanged = canChange,
    ...options
  }: RefreshAllOptions = {}): Promise<Snapshot> {
    const askedAt = Date.now();
    let current = await this.refresh(query, options);
    const isOutdated = (one: IndexedEnvelope) =>
      isPartlyKnown(one) || (one.seen <= askedAt && mayHaveChanged(one, current.snapshot));
    const outdated = () => [...current.snapshot.known.values()].filter(isOutdated);
    if (isListCheaper(current.snapshot, outdated().length, askedAt))
      current = await this.#withReserve(() => this.readList(query, current, options));
    await this.#readEach(outdated(), options);
    return this.#readNewLines(query, current.snapshot);
  }

  /** Returns the current envelope; undefined if the service no longer has it. */
  async current(id: string, signal?: AbortSignal): Promise<Envelope | undefined> {
    const envelope = await readIfExists(this.client, id, signal);
    if (envelope === undefined) this.#feed.gone(id);
    return envelope;
  }

  async #update(before: Snapshot, query: IndexQuery, options: RefreshOptions): Promise<Refreshed> {
    const { signal, onProgress } = options;
    const wasNew = before.completeness === undefined;
    const { gone, unconfirmed, upTo, extra } = await walkNew(this.client, before, {
      signal,
      onProgress: (done, total) => onProgress?.({ step: 'list', done, total }),
    });
    for (const id of gone) this.#feed.gone(id);
    this.#feed.complete(upTo, extra);
    let snapshot = await this.#readNewLines(query, before);
    await this.#readEach(this.#missing(snapshot, options), options);
    snapshot = await this.#readNewLines(query, snapshot);
    if (wasNew) await this.file.removeUnused();
    if (await this.file.tidy(snapshot, wasNew)) snapshot = await this.file.read(query);
    return { snapshot, unconfirmed };
  }

  async #readNewLines(query: IndexQuery, before: Snapshot): Promise<Snapshot> {
    this.#feed.flush();
    if (this.#feed.hasFailed) throw new IndexUnusable(`${this.file.path} can't be written`);
    return this.file.read(query, before);
  }

  /** Returns the envelopes whose searchable fields are missing. */
  #missing({ known, members }: Snapshot, { mayMatch = () => true }: RefreshOptions): IndexedEnvelope[] {
    const mayBelong = ({ id }: IndexedEnvelope) =>
      members === undefined || members.has(id) || members.isUndecided(id);
    return [...known.values()].filter(
      (one) => isPartlyKnown(one) && !one.hit && !one.excluded && mayBelong(one) && mayMatch(one),
    );
  }

  async #readEach(
    missing: readonly IndexedEnvelope[],
    { signal, onProgress }: RefreshOptions,
  ): Promise<void> {
    const read = async () => {
      let done = 0;
      const total = missing.length;
      for await (const _ of mapAhead(missing, READ_CONCURRENCY, ({ id }) => this.current(id, signal)))
        onProgress?.({ step: 'each', done: ++done, total });
    };
    if (missing.length > LOCK_ABOVE) await this.#withReserve(read);
    else await read();
  }

  #withReserve<T>(work: () => Promise<T>): Promise<T> {
    return this.client.window ? this.client.window.withReserve(LARGE_READ_PACE, work) : work();
  }
}
