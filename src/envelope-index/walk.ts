import type { Client } from '../api/client.ts';
import type { EnvelopePage } from '../api/envelopes.ts';
import { LISTED_AFTER_MS, orderOf } from '../api/recent-pages.ts';
import type { Envelope } from '../api/schemas.ts';
import { CLOCK_SLACK_MS } from '../api/service-clock.ts';
import { timeOf } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/vocabulary.ts';
import type { Snapshot } from './snapshot.ts';

/** What a walk over the service's list came to. */
export interface Walked {
  /** Known, but no more in the list. */
  gone: string[];
  /** Not in the list either, but so new that it may be there in a moment. */
  unsure: Set<string>;
  /** All that were created until then are known, by the service's clock. */
  upTo: number;
  extra: number;
}

export interface WalkOptions {
  signal?: AbortSignal | undefined;
  /** Told how many envelopes are known, and of how many. */
  onProgress?: ((done: number, total: number | undefined) => void) | undefined;
}

/**
 * Finds the envelopes that the snapshot does not know. Where the service counts its envelopes, one page of the list or two
 * show that there is nothing new; else the list is read as far as needed, and whole where the counts do not agree.
 */
export async function walkNew(client: Client, snapshot: Snapshot, options: WalkOptions): Promise<Walked> {
  const walk = new Walk(client, snapshot, options);
  await walk.start();
  if (!(await walk.findsRecent())) await walk.everything();
  return walk.result();
}

class Walk {
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
  /** Something is not as it was known for good: the service has gone back to an earlier state. */
  #contradicted = false;
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
    // By now a reply has told the time.
    this.#upTo = this.#client.serviceClock.now();
  }

  /** True when what is new was found without reading the whole list. */
  async findsRecent(): Promise<boolean> {
    const { completeness } = this.#before;
    if (completeness === undefined) return false;
    // The service's clock went back, as after a reset of the sandbox: times no longer show what is new.
    if (completeness.upTo > this.#upTo + CLOCK_SLACK_MS) return false;
    const order = orderOf(this.#first?.items ?? []);
    // An envelope created a little before the last walk may have been missed by it.
    if (this.#total === undefined)
      return order === 'newest-first' && this.#since(completeness.upTo - CLOCK_SLACK_MS);
    const last = this.#last ?? 1;
    const isNewestFirst = order === 'newest-first';
    // Where what is new comes last, the last page tells whether there is any.
    if (!isNewestFirst && last > 1) await this.#page(last);
    if (order !== 'unknown') await this.#readOn(isNewestFirst ? 2 : last - 1, isNewestFirst ? 1 : -1);
    return this.#isLevel();
  }

  /** Reads page after page, until nothing is missing or nothing new comes. */
  async #readOn(from: number, step: 1 | -1): Promise<void> {
    for (let number = from; number > 1 && !this.#isPastEnd(number) && !this.#isLevel(); number += step) {
      const before = this.#ids.size;
      await this.#page(number);
      if (this.#ids.size === before) return;
    }
  }

  /** The pages that were not read yet, until nothing can be missing. */
  async everything(): Promise<void> {
    const isFirst = this.#before.completeness === undefined;
    for (let number = 2; !this.#isPastEnd(number); number++) {
      if (isFirst && this.#isLevel()) return;
      if (!(await this.#bringsMore(number))) break;
    }
    this.#readAll = true;
    if (this.#total === undefined || this.#seen.size === this.#total) this.#extra = 0;
    else await this.#countAgain();
  }

  result(): Walked {
    const missing = this.#readAll
      ? [...this.#before.known.values()].filter(({ id }) => !this.#seen.has(id))
      : [];
    // What was created after the walk began is not in this service's list at all: its clock went back.
    const isNew = ({ created }: { created: number }) =>
      created > this.#upTo - LISTED_AFTER_MS && created <= this.#upTo + CLOCK_SLACK_MS;
    return {
      gone: missing.filter((one) => !isNew(one)).map(({ id }) => id),
      unsure: new Set(missing.filter(isNew).map(({ id }) => id)),
      upTo: this.#upTo,
      extra: this.#extra,
    };
  }

  #isPastEnd(number: number): boolean {
    return this.#last !== undefined && number > this.#last;
  }

  /** Reads a page. A list without a count of pages ends with an empty one, or by sending the same again. */
  async #bringsMore(number: number): Promise<boolean> {
    if (this.#read.has(number)) return true;
    const before = this.#seen.size;
    const { items } = await this.#page(number);
    return items.length > 0 && (this.#last !== undefined || this.#seen.size > before);
  }

  /** Nothing is counted: what was created before the last walk is known. */
  async #since(since: number): Promise<boolean> {
    let page = this.#first;
    const isNew = ({ createdAt }: Envelope) => !(timeOf(createdAt) < since);
    for (let number = 2; page?.items.some(isNew); number++) {
      if (this.#isPastEnd(number)) break;
      const before = this.#seen.size;
      page = await this.#page(number);
      if (this.#seen.size === before) break;
    }
    return !this.#contradicted;
  }

  /** Envelopes may have come during the walk; a difference that stays is the service's way of counting. */
  async #countAgain(): Promise<void> {
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
    onProgress?.(this.#ids.size, this.#total);
    return page;
  }

  #take(item: Envelope): void {
    this.#seen.add(item.id);
    this.#ids.add(item.id);
    const known = this.#before.known.get(item.id);
    if (known?.known === 'final' && !known.touched)
      this.#contradicted ||=
        known.status !== (item.status ?? '') || !Object.is(known.created, timeOf(item.createdAt));
  }

  /** True when as many are known as the service has. */
  #isLevel(): boolean {
    return !this.#contradicted && this.#total !== undefined && this.#ids.size === this.#total - this.#extra;
  }
}
