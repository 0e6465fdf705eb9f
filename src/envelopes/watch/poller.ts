import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { isNotFound, ServiceError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { ALL, nextStep } from './poll-plan.ts';

/** The result of reading one envelope: the envelope, or the error if it doesn't exist. */
export type PollResult =
  | { id: string; envelope: Envelope; error?: undefined }
  | { id: string; envelope?: undefined; error: ServiceError };

/** Up to this many envelopes are read by ID if lists contain less. */
const MAX_READ_BY_ID = 12;
const CONCURRENCY = 8;
/** The lengths of lists are measured again after this many polls. */
const SURVEY_POLLS = 100;

/** Reads envelopes with as few requests as possible. Remembers the lengths of lists between polls. */
export class EnvelopePoller {
  readonly #client: Client;
  readonly #pages = new Map<string, number>();
  #filters = true;
  #lists = true;
  #listsLackSigners = false;
  #signersShown: boolean | undefined;
  #polls = 0;
  #leaving = 0;
  /** The number of requests so far. */
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
   * finds. Yields the envelopes page by page: those of `rest`, and those with a status of `discover`.
   */
  async *lists(
    rest: Map<string, string | undefined>,
    discover: readonly string[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Envelope[], void, undefined> {
    const isNew = [...rest.values()].every((status) => status === undefined);
    const isFew = rest.size <= (isNew || this.needsEach ? MAX_READ_BY_ID : 1);
    if (!this.#lists || (isFew && discover.length === 0)) return;
    if (++this.#polls % SURVEY_POLLS === 0) this.#pages.clear();
    const wanted = new Set(rest.keys());
    const reading = new ListReading(Math.max(MAX_READ_BY_ID, rest.size));
    for (;;) {
      const { read, done } = reading;
      const survey = { pages: this.#pages, read, done, filters: this.#filters, leaving: this.#leaving };
      const step = nextStep(rest, discover, survey);
      if (step === 'each') return;
      const items = await this.#page(step.list, reading, signal).catch((error: unknown) =>
        this.#refused(error, discover.length > 0),
      );
      if (items === undefined) return;
      for (const { id } of items) rest.delete(id);
      yield items.filter((item) => wanted.has(item.id) || discover.includes(item.status ?? ''));
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
    yield* mapInOrder(ids, CONCURRENCY, (id) => this.#one(id, signal));
  }

  /** Reads the next page of a list. */
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
  #refused(error: unknown, isNeeded: boolean): undefined {
    if (isNeeded || !isRefusal(error)) throw error;
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
}

/** The progress of each list in one poll. */
class ListReading {
  readonly read = new Map<string, number>();
  readonly done = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #most: number;

  /** @param most the most pages to read of a list without a page count */
  constructor(most: number) {
    this.#most = most;
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
      page.totalPages ?? (this.#seen.size === before || number >= this.#most ? number : number + 1);
    if (number >= last || page.items.length === 0) this.done.add(list);
  }
}

/** Returns true if the envelope has the status of each signer. */
export function showsSigners(envelope: Envelope): boolean {
  return envelope.signers?.every((one) => typeof one.status === 'string') ?? false;
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && [400, 403, 404, 405].includes(error.status);
}

function mostDiffer(items: readonly Envelope[], status: string): boolean {
  return items.filter((item) => item.status !== status).length * 2 > items.length;
}
