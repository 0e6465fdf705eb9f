import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/limits.ts';
import type { Envelope } from '../../api/schemas.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { isNotFound } from '../../kernel/request-failures.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { ENVELOPE_STATUSES, IN_FLIGHT, LIMITS, showsSigners } from '../../kernel/vocabulary.ts';

/** The result of reading one envelope: the envelope, or the error if it doesn't exist. */
export type PollResult =
  | { id: string; envelope: Envelope; error?: undefined }
  | { id: string; envelope?: undefined; error: ServiceError };

/** Up to this many envelopes are read by ID if lists contain less. */
const MAX_READ_BY_ID = 12;
/** The lengths of lists are measured again after this many polls. */
const SURVEY_POLLS = 100;

/**
 * Reads envelopes with as few requests as possible. Remembers the lengths of lists between polls. It chooses between lists after
 * each page and reads what they lack by ID, so it doesn't need the walk of catalog/envelope-list.ts, which reads a list to its end.
 */
export class EnvelopePoller {
  readonly #client: Client;
  /** The number of pages each list had when it was last read. */
  readonly #pages = new Map<string, number>();
  /** False for a service that ignores the status filter. */
  #filters = true;
  #lists = true;
  #listsLackSigners = false;
  #signersShown: boolean | undefined;
  #polls = 0;
  #leaving = 0;
  requests = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** True if lists lack the signers and a GET returns them. */
  get needsEach(): boolean {
    return this.#listsLackSigners && this.#signersShown !== false;
  }

  /**
   * Reads list pages as long as that takes fewer requests than reading each remaining envelope, and removes from `rest` what it
   * finds. Yields the envelopes page by page.
   */
  async *lists(
    rest: Map<string, string | undefined>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Envelope[], void, undefined> {
    const isNew = [...rest.values()].every((status) => status === undefined);
    const isFew = rest.size <= (isNew || this.needsEach ? MAX_READ_BY_ID : 1);
    if (!this.#lists || isFew) return;
    if (++this.#polls % SURVEY_POLLS === 0) this.#pages.clear();
    const pending = new Set(rest.keys());
    const reading = new ListReading(Math.max(MAX_READ_BY_ID, rest.size));
    for (;;) {
      const list = this.#nextList(rest, reading);
      if (list === undefined) return;
      const items = await this.#page(list, reading, signal).catch((error: unknown) => this.#refused(error));
      if (items === undefined) return;
      for (const { id } of items) rest.delete(id);
      yield items.filter((item) => pending.has(item.id));
    }
  }

  /** Sets how many envelopes ended in the last poll. About as many will have left their lists in the next one. */
  expect(leaving: number): void {
    this.#leaving = leaving;
  }

  /** Reads each envelope by ID, in the order of the IDs. */
  async *each(
    ids: readonly string[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<PollResult, void, undefined> {
    yield* mapInOrder(ids, READ_CONCURRENCY, (id) => this.#one(id, signal));
  }

  async #page(list: string, reading: ListReading, signal: AbortSignal | undefined) {
    const number = reading.next(list);
    const status = list === ALL ? undefined : list;
    this.requests++;
    const page = await this.#client.envelopes.page(number, { status, signal });
    this.#noteSigners(page.items);
    const isIgnored = status !== undefined && mostDiffer(page.items, status);
    // The service ignored the filter and returned the unfiltered list.
    if (isIgnored) this.#filters = false;
    const name = isIgnored ? ALL : list;
    reading.addPage(name, page);
    if (page.totalPages !== undefined) this.#pages.set(name, page.totalPages);
    else this.#pages.delete(name);
    return page.items;
  }

  /** If lists are refused, envelopes may still be read by ID. */
  #refused(error: unknown): undefined {
    if (!isRefusal(error)) throw error;
    this.#lists = false;
  }

  #noteSigners(items: readonly Envelope[]): void {
    if (items.length > 0) this.#listsLackSigners = !items.every(showsSigners);
  }

  async #one(id: string, signal: AbortSignal | undefined): Promise<PollResult> {
    this.requests++;
    try {
      const envelope = await this.#client.envelopes.get(id, signal);
      this.#signersShown = showsSigners(envelope);
      return { id, envelope };
    } catch (error) {
      if (isNotFound(error)) return { id, error };
      throw error;
    }
  }

  /**
   * Returns the list to read next, by the strategy that needs the fewest requests for the remaining envelopes; undefined to read
   * each by ID. It is decided after every page, so that a list that is too long is noticed on its first page.
   * @param rest the envelopes still to be read, with their last known statuses
   */
  #nextList(rest: ReadonlyMap<string, string | undefined>, reading: ListReading): string | undefined {
    const byStatus = this.#costByStatus(rest, reading);
    const each = rest.size;
    const all = this.#costOfAll(rest, reading);
    if (all <= each && all <= byStatus.cost + this.#leaving + COST_TOLERANCE) return ALL;
    return byStatus.cost < each ? byStatus.lists[0] : undefined;
  }

  /** If the length isn't known, it is assumed to be that of the status lists together. */
  #costOfAll(rest: ReadonlyMap<string, string | undefined>, reading: ListReading): number {
    if (reading.done.has(ALL)) return Number.POSITIVE_INFINITY;
    const parts = ENVELOPE_STATUSES.reduce((sum, status) => sum + (this.#pages.get(status) ?? 0), 0);
    return this.#costOfList(ALL, Math.max(rest.size, parts * LIMITS.pageSize), reading);
  }

  #costOfList(list: string, expected: number, { read }: ListReading): number {
    const known = this.#pages.get(list) ?? Math.ceil(expected / LIMITS.pageSize);
    return Math.max(1, known - (read.get(list) ?? 0));
  }

  /** The lists of the last known statuses, in the order of an envelope's life; the rest by ID. */
  #costByStatus(
    rest: ReadonlyMap<string, string | undefined>,
    reading: ListReading,
  ): { lists: string[]; cost: number } {
    const { done } = reading;
    const expected = new Map<string, number>();
    let single = 0;
    const expect = (status: string, amount: number) => {
      const isReadable =
        this.#filters && ENVELOPE_STATUSES.some((known) => known === status) && !done.has(status);
      if (isReadable) expected.set(status, (expected.get(status) ?? 0) + amount);
      else single += amount;
    };
    for (const status of rest.values()) {
      if (status !== undefined) expect(status, 1);
      else if (IN_FLIGHT.every((one) => done.has(one))) single++;
      else for (const one of IN_FLIGHT) expect(one, 1 / IN_FLIGHT.length);
    }
    const lists = ENVELOPE_STATUSES.filter((status) => expected.has(status));
    const pages = lists.map((status) => this.#costOfList(status, expected.get(status) ?? 0, reading));
    return { lists, cost: pages.reduce((sum, cost) => sum + cost, 0) + Math.ceil(single) };
  }
}

class ListReading {
  /** The number of pages read of each list. */
  readonly read = new Map<string, number>();
  /** Lists that were read to the end. */
  readonly done = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #maxPages: number;

  /** @param maxPages the maximum number of pages to read of a list without a page count */
  constructor(maxPages: number) {
    this.#maxPages = maxPages;
  }

  next(list: string): number {
    return (this.read.get(list) ?? 0) + 1;
  }

  addPage(list: string, page: { items: readonly Envelope[]; totalPages: number | undefined }): void {
    const number = this.next(list);
    this.read.set(list, number);
    const before = this.#seen.size;
    for (const { id } of page.items) this.#seen.add(`${list} ${id}`);
    const last =
      page.totalPages ?? (this.#seen.size === before || number >= this.#maxPages ? number : number + 1);
    if (number >= last || page.items.length === 0) this.done.add(list);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && [400, 403, 404, 405].includes(error.status);
}

function mostDiffer(items: readonly Envelope[], status: string): boolean {
  return items.filter((item) => item.status !== status).length * 2 > items.length;
}

/** The unfiltered list, as opposed to the list of one status. */
const ALL = '';

/** The unfiltered list is preferred unless it takes this many times the requests, because it is more reliable. */
const COST_TOLERANCE = 1;
