import { rm } from 'node:fs/promises';
import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY, RESERVE } from '../../api/limits.ts';
import type { Envelope } from '../../api/schemas.ts';
import { mapAhead } from '../../kernel/streams.ts';
import { readIfExists } from '../marked-envelopes.ts';
import type { Selection } from '../select.ts';
import type { Feed } from './feed.ts';
import { IndexFile } from './index-file.ts';
import { canChange, type IndexedEnvelope, isPartlyKnown, type Snapshot } from './snapshot.ts';
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
  /** Returns the envelopes that the caller will read again. If it takes fewer requests, the list is read instead. Default: none. */
  outdated?: ((refreshed: Refreshed) => readonly IndexedEnvelope[]) | undefined;
}

export interface RefreshAllOptions extends Pick<RefreshOptions, 'signal' | 'onProgress'> {
  /** Decides which envelopes are read again. Default: all that can still change. */
  mayHaveChanged?: ((one: IndexedEnvelope, snapshot: Snapshot) => boolean) | undefined;
}

/** The index after an update. */
export interface Refreshed {
  snapshot: Snapshot;
  /** When the update began, in ms. */
  askedAt: number;
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

  /** Deletes the index. The next search reads every envelope. */
  async clear(): Promise<void> {
    await rm(this.file.path, { force: true });
  }

  /** Returns the index as it is, without a request. */
  known(selection?: Selection): Promise<Snapshot> {
    this.#feed.flush();
    return this.file.read(selection);
  }

  /**
   * Reads what the index lacks to find the selected envelopes, and returns it. The first time, it reads every envelope; an interrupted
   * update is resumed.
   * @throws IndexUnusable if the index can't be used and the envelopes have to be read from the service.
   */
  async refresh(selection: Selection, options: RefreshOptions = {}): Promise<Refreshed> {
    const askedAt = Date.now();
    const refreshed = { ...(await this.#readMissing(selection, options)), askedAt };
    const outdated = options.outdated?.(refreshed) ?? [];
    if (!refreshed.snapshot.isListCheaper(outdated.length, askedAt)) return refreshed;
    await this.#withReserve(() => this.#readList(refreshed.snapshot, options));
    return { ...refreshed, snapshot: await this.#readNewLines(selection, refreshed.snapshot) };
  }

  /**
   * Updates the index and returns it. Reads new and partly known envelopes and those that may have changed, one by one or as a
   * list, whichever takes fewer requests.
   * @throws IndexUnusable if the index can't be used and the envelopes have to be read from the service.
   */
  async refreshAll(
    selection: Selection = {},
    { mayHaveChanged = canChange, ...options }: RefreshAllOptions = {},
  ): Promise<Snapshot> {
    const outdated = ({ snapshot, askedAt }: Refreshed) =>
      [...snapshot.known.values()].filter(
        (one) => isPartlyKnown(one) || (one.seen <= askedAt && mayHaveChanged(one, snapshot)),
      );
    const refreshed = await this.refresh(selection, { ...options, outdated });
    await this.#readEach(outdated(refreshed), options);
    return this.#readNewLines(selection, refreshed.snapshot);
  }

  /** Returns the current envelope; undefined if the service no longer has it. */
  async current(id: string, signal?: AbortSignal): Promise<Envelope | undefined> {
    const envelope = await readIfExists(this.client, id, signal);
    if (envelope === undefined) this.#feed.gone(id);
    return envelope;
  }

  async #readMissing(selection: Selection, options: RefreshOptions): Promise<Omit<Refreshed, 'askedAt'>> {
    const { signal, onProgress } = options;
    const snapshot = await this.known(selection);
    const isLarge = snapshot.completeness === undefined || this.#missing(snapshot).length > LOCK_ABOVE;
    if (!isLarge) return this.#update(snapshot, selection, options);
    const onWait = () => onProgress?.({ step: 'other-process', done: 0, total: undefined });
    const work = async () => this.#update(await this.known(selection), selection, options);
    return this.file.withLock(() => this.#withReserve(work), { signal, onWait });
  }

  async #update(
    before: Snapshot,
    selection: Selection,
    options: RefreshOptions,
  ): Promise<Omit<Refreshed, 'askedAt'>> {
    const { signal, onProgress } = options;
    const wasNew = before.completeness === undefined;
    const { gone, unconfirmed, upTo, extra } = await walkNew(this.client, before, {
      signal,
      onProgress: (done, total) => onProgress?.({ step: 'list', done, total }),
    });
    for (const id of gone) this.#feed.gone(id);
    this.#feed.complete(upTo, extra);
    let snapshot = await this.#readNewLines(selection, before);
    await this.#readEach(this.#missing(snapshot), options);
    snapshot = await this.#readNewLines(selection, snapshot);
    if (wasNew) await this.file.removeUnused();
    if (await this.file.tidy(snapshot, wasNew)) snapshot = await this.file.read(selection);
    return { snapshot, unconfirmed };
  }

  async #readNewLines(selection: Selection, before: Snapshot): Promise<Snapshot> {
    this.#feed.flush();
    if (this.#feed.hasFailed) throw new IndexUnusable(`${this.file.path} can't be written`);
    return this.file.read(selection, before);
  }

  #missing(snapshot: Snapshot): IndexedEnvelope[] {
    return snapshot.missing(this.client.serviceClock.now());
  }

  async #readList({ known }: Snapshot, { signal, onProgress }: RefreshOptions): Promise<void> {
    let done = 0;
    for await (const _ of this.client.envelopes.list({ signal }))
      onProgress?.({ step: 'list', done: ++done, total: known.size });
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
