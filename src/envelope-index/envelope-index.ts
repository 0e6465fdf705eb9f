import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { isNotFound } from '../kernel/errors.ts';
import { mapAhead } from '../kernel/streams.ts';
import type { Feed } from './feed.ts';
import { IndexFile } from './index-file.ts';
import type { IndexScope } from './index-writer.ts';
import { canChange, isListCheaper, isPartly, type Known, type Question, type Snapshot } from './snapshot.ts';
import { walkNew } from './walk.ts';

/** How far the index is in reading what it does not know. */
export interface IndexProgress {
  /** Reading the list, reading envelopes one by one, or waiting for another process that does either. */
  step: 'list' | 'each' | 'other-process';
  done: number;
  total: number | undefined;
}

export interface RefreshOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: IndexProgress) => void) | undefined;
  /** Whether an envelope of which only a part is known has to be read for this question; all, when absent. */
  mayAnswer?: ((one: Known) => boolean) | undefined;
}

export interface RefreshAllOptions extends Pick<RefreshOptions, 'signal' | 'onProgress'> {
  /** Marks the hits of the snapshot; all envelopes are hits without one. */
  question?: Question | undefined;
  /** Which envelopes are read again; all that can still change, when absent. */
  mayHaveChanged?: ((one: Known, snapshot: Snapshot) => boolean) | undefined;
}

/** What is known once nothing is missing. */
export interface Refreshed {
  snapshot: Snapshot;
  /** Known, but the list does not show them: whether there are such is asked of each. */
  unsure: ReadonlySet<string>;
}

/** The index can't be written, so that it can't be relied on. */
export class IndexUnusable extends Error {
  override readonly name = 'IndexUnusable';
}

/** More than so many are read under a lock, so that two processes do not read the same. */
const FEW = 20;
const CONCURRENCY = 8;
/** What reading many leaves of the rate window for the customer's own systems, and how long it waits for the next one. */
const SPARING = { reserve: 0.1, maxWaitMs: 16 * 60_000 };

/** What is known of the envelopes of one service, kept in a file and brought up to date for each question. */
export class EnvelopeIndex {
  readonly file: IndexFile;
  readonly #feed: Feed;
  readonly #client: Client;

  /** `client`: one whose every reply goes into the feed. */
  constructor(stateDir: string, scope: IndexScope, { feed, client }: { feed: Feed; client: Client }) {
    this.file = new IndexFile(stateDir, scope);
    this.#feed = feed;
    this.#client = client;
  }

  /** What is known without asking the service. */
  known(question?: Question): Promise<Snapshot> {
    this.#feed.flush();
    return this.file.read(question);
  }

  /**
   * What is known once the service was asked for what the index lacks. The first time that is every envelope; an
   * interrupted run is gone on with.
   * @throws IndexUnusable
   */
  async refreshed(question: Question, options: RefreshOptions = {}): Promise<Refreshed> {
    const { signal, onProgress } = options;
    const snapshot = await this.known(question);
    const isMuch = snapshot.completeness === undefined || this.#missing(snapshot, options).length > FEW;
    if (!isMuch) return this.#bringUp(snapshot, question, options);
    const waits = () => onProgress?.({ step: 'other-process', done: 0, total: undefined });
    const work = async () => this.#bringUp(await this.known(question), question, options);
    return this.file.alone(() => this.#sparing(work), { signal, onWait: waits });
  }

  /** The same after reading the whole list, which costs less than asking for each of many. */
  async relisted(
    question: Question,
    before: Refreshed,
    { signal, onProgress }: RefreshOptions,
  ): Promise<Refreshed> {
    const total = before.snapshot.known.size;
    let done = 0;
    for await (const _ of this.#client.envelopes.list({ signal }))
      onProgress?.({ step: 'list', done: ++done, total });
    return { ...before, snapshot: await this.#readOn(question, before.snapshot) };
  }

  /**
   * Brings the index up to date and returns it: what is new, what is known only in part, and each envelope that may have
   * changed, by the cheaper of two ways.
   * @throws IndexUnusable
   */
  async refreshAll({
    question = {},
    mayHaveChanged = canChange,
    ...options
  }: RefreshAllOptions = {}): Promise<Snapshot> {
    const askedAt = Date.now();
    let current = await this.refreshed(question, options);
    const isOutdated = (one: Known) =>
      isPartly(one) || (one.seen < askedAt && mayHaveChanged(one, current.snapshot));
    const outdated = () => [...current.snapshot.known.values()].filter(isOutdated);
    if (isListCheaper(current.snapshot, outdated().length, askedAt))
      current = await this.#sparing(() => this.relisted(question, current, options));
    await this.#readEach(outdated(), options);
    return this.#readOn(question, current.snapshot);
  }

  /** The envelope as it is now; undefined when the service has it no more. */
  async now(id: string, signal?: AbortSignal): Promise<Envelope | undefined> {
    try {
      return await this.#client.envelopes.get(id, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#feed.gone(id);
      return undefined;
    }
  }

  async #bringUp(before: Snapshot, question: Question, options: RefreshOptions): Promise<Refreshed> {
    const { signal, onProgress } = options;
    const wasNew = before.completeness === undefined;
    const { gone, unsure, upTo, extra } = await walkNew(this.#client, before, {
      signal,
      onProgress: (done, total) => onProgress?.({ step: 'list', done, total }),
    });
    for (const id of gone) this.#feed.gone(id);
    this.#feed.complete(upTo, extra);
    let snapshot = await this.#readOn(question, before);
    const missing = this.#missing(snapshot, options);
    await this.#readEach(missing, options);
    if (missing.length > 0) snapshot = await this.#readOn(question, snapshot);
    if (wasNew) await this.file.removeUnused();
    if (await this.file.tidy(snapshot, wasNew)) snapshot = await this.file.read(question);
    return { snapshot, unsure };
  }

  async #readOn(question: Question, before: Snapshot): Promise<Snapshot> {
    this.#feed.flush();
    if (this.#feed.hasFailed) throw new IndexUnusable(`${this.file.path} can't be written`);
    return this.file.read(question, before);
  }

  /** Those whose words are not known, the newest first. */
  #missing({ known, members }: Snapshot, { mayAnswer = () => true }: RefreshOptions): Known[] {
    const mayBelong = ({ id }: Known) => members === undefined || members.has(id) || members.isUndecided(id);
    const parts = [...known.values()].filter(
      (one) => isPartly(one) && !one.hit && !one.excluded && mayBelong(one) && mayAnswer(one),
    );
    return parts.sort((a, b) => (b.created || 0) - (a.created || 0));
  }

  async #readEach(missing: readonly Known[], { signal, onProgress }: RefreshOptions): Promise<void> {
    const read = async () => {
      let done = 0;
      const total = missing.length;
      for await (const _ of mapAhead(missing, CONCURRENCY, ({ id }) => this.now(id, signal)))
        onProgress?.({ step: 'each', done: ++done, total });
    };
    if (missing.length > FEW) await this.#sparing(read);
    else await read();
  }

  #sparing<T>(work: () => Promise<T>): Promise<T> {
    return this.#client.window ? this.#client.window.sparing(SPARING, work) : work();
  }
}
