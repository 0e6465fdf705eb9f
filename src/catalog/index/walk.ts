import type { Client } from '../../api/client.ts';
import { MAX_LIST_LAG_MS, orderOf } from '../../api/recent-pages.ts';
import type { EnvelopePage } from '../../api/resources.ts';
import type { Envelope } from '../../api/schemas.ts';
import { CLOCK_SLACK_MS } from '../../api/service-clock.ts';
import { timeOf } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';
import type { Snapshot } from './snapshot.ts';

/** The result of reading the service's list. */
export interface WalkResult {
  /** Indexed, but no longer in the list. */
  gone: string[];
  /** Missing from the list, but new enough that they may still appear. */
  unconfirmed: Set<string>;
  /** Every envelope created until then is known, by the service's clock. */
  upTo: number;
  extra: number;
}

export interface WalkOptions {
  signal?: AbortSignal | undefined;
  /** Receives the number of known envelopes and the total. */
  onProgress: (done: number, total: number | undefined) => void;
}

/**
 * Finds envelopes that the snapshot lacks. If the service counts its envelopes, one or two pages show that nothing is new.
 * Otherwise, the list is read as far as needed, and completely if the counts differ.
 */
export async function walkNew(client: Client, snapshot: Snapshot, options: WalkOptions): Promise<WalkResult> {
  const walk = new ListWalk(client, snapshot, options);
  await walk.start();
  if (!(await walk.findRecent())) await walk.readAll();
  return walk.result();
}

class ListWalk {
  readonly #client: Client;
  readonly #before: Snapshot;
  readonly #options: WalkOptions;
  readonly #ids: Set<string>;
  readonly #seen = new Set<string>();
  readonly #read = new Set<number>();
  #first: EnvelopePage | undefined;
  #total: number | undefined;
  #last: number | undefined;
  #extra: number;
  #upTo = 0;
  /** An envelope that was final has changed: the service was reset to an earlier state. */
  #wasReset = false;
  #readAll = false;

  constructor(client: Client, before: Snapshot, options: WalkOptions) {
    this.#client = client;
    this.#before = before;
    this.#options = options;
    this.#ids = new Set(before.known.keys());
    this.#extra = before.completeness?.extra ?? 0;
  }

  async start(): Promise<void> {
    this.#first = await this.#page(1);
    // The first response has set the service's clock.
    this.#upTo = this.#client.serviceClock.now();
  }

  /** Returns true if it found everything new without reading the whole list. */
  async findRecent(): Promise<boolean> {
    const { completeness } = this.#before;
    if (completeness === undefined) return false;
    // The service's clock went back, for example because the sandbox was reset, so times no longer show what is new.
    if (completeness.upTo > this.#upTo + CLOCK_SLACK_MS) return false;
    const order = orderOf(this.#first?.items ?? []);
    // The last walk may have missed an envelope created shortly before it.
    if (this.#total === undefined)
      return order === 'newest-first' && this.#readSince(completeness.upTo - CLOCK_SLACK_MS);
    const last = this.#last ?? 1;
    const isNewestFirst = order === 'newest-first';
    // In a list with the oldest first, new envelopes are on the last page.
    if (!isNewestFirst && last > 1) await this.#page(last);
    if (order !== 'unknown') await this.#readPagesFrom(isNewestFirst ? 2 : last - 1, isNewestFirst ? 1 : -1);
    return this.#isComplete();
  }

  /** Reads pages until nothing is missing or a page has nothing new. */
  async #readPagesFrom(from: number, step: 1 | -1): Promise<void> {
    for (let number = from; number > 1 && !this.#isPastEnd(number) && !this.#isComplete(); number += step) {
      const before = this.#ids.size;
      await this.#page(number);
      if (this.#ids.size === before) return;
    }
  }

  /** Reads the remaining pages until nothing can be missing. */
  async readAll(): Promise<void> {
    const isFirst = this.#before.completeness === undefined;
    for (let number = 2; !this.#isPastEnd(number); number++) {
      if (isFirst && this.#isComplete()) return;
      if (!(await this.#hasMore(number))) break;
    }
    this.#readAll = true;
    if (this.#total === undefined || this.#seen.size === this.#total) this.#extra = 0;
    else await this.#recount();
  }

  result(): WalkResult {
    const missing = this.#readAll
      ? [...this.#before.known.values()].filter(({ id }) => !this.#seen.has(id))
      : [];
    // An envelope with a later creation time than now isn't new: the service's clock went back.
    const isNew = ({ created }: { created: number }) =>
      created > this.#upTo - MAX_LIST_LAG_MS && created <= this.#upTo + CLOCK_SLACK_MS;
    return {
      gone: missing.filter((one) => !isNew(one)).map(({ id }) => id),
      unconfirmed: new Set(missing.filter(isNew).map(({ id }) => id)),
      upTo: this.#upTo,
      extra: this.#extra,
    };
  }

  #isPastEnd(number: number): boolean {
    return this.#last !== undefined && number > this.#last;
  }

  /** Reads a page. A list without a page count ends with an empty page or by repeating the last one. */
  async #hasMore(number: number): Promise<boolean> {
    if (this.#read.has(number)) return true;
    const before = this.#seen.size;
    const { items } = await this.#page(number);
    return items.length > 0 && (this.#last !== undefined || this.#seen.size > before);
  }

  /** Reads a list without a total back to the time of the last walk. */
  async #readSince(since: number): Promise<boolean> {
    let page = this.#first;
    const isNew = ({ createdAt }: Envelope) => !(timeOf(createdAt) < since);
    for (let number = 2; page?.items.some(isNew); number++) {
      if (this.#isPastEnd(number)) break;
      const before = this.#seen.size;
      page = await this.#page(number);
      if (this.#seen.size === before) break;
    }
    return !this.#wasReset;
  }

  /** Envelopes may have been created during the walk. If a difference remains, the service counts envelopes it doesn't list. */
  async #recount(): Promise<void> {
    await this.#page(1);
    if (this.#last !== undefined && this.#last > 1) await this.#page(this.#last);
    this.#extra = (this.#total ?? this.#seen.size) - this.#seen.size;
  }

  async #page(number: number): Promise<EnvelopePage> {
    const { signal, onProgress } = this.#options;
    const page = await this.#client.envelopes.page(number, { signal });
    this.#read.add(number);
    this.#total = page.total ?? this.#total;
    this.#last =
      page.totalPages ?? (page.total === undefined ? this.#last : Math.ceil(page.total / LIMITS.pageSize));
    for (const item of page.items) this.#take(item);
    onProgress(this.#ids.size, this.#total);
    return page;
  }

  #take(item: Envelope): void {
    this.#seen.add(item.id);
    this.#ids.add(item.id);
    const known = this.#before.known.get(item.id);
    if (known?.known === 'final')
      this.#wasReset ||=
        known.status !== (item.status ?? '') || !Object.is(known.created, timeOf(item.createdAt));
  }

  /** Returns true if as many envelopes are known as the service has. */
  #isComplete(): boolean {
    return !this.#wasReset && this.#total !== undefined && this.#ids.size === this.#total - this.#extra;
  }
}
