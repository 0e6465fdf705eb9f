import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { isNotFound, ServiceError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { ALL, nextStep } from './poll-plan.ts';

/** What asking for one envelope found: the envelope, or that the service does not know it. */
export type PollResult =
  | { id: string; envelope: Envelope; error?: undefined }
  | { id: string; envelope?: undefined; error: ServiceError };

/** So few are asked for one by one where lists tell less. */
const FEW = 12;
const CONCURRENCY = 8;
/** Lists grow and shrink: after so many looks their lengths are found out anew. */
const SURVEY_POLLS = 100;

/** Looks at envelopes for as few requests as possible, and remembers between looks how long the lists are. */
export class EnvelopePoller {
  readonly #client: Client;
  readonly #pages = new Map<string, number>();
  #filters = true;
  #lists = true;
  #listsLackSigners = false;
  #signersShown: boolean | undefined;
  #polls = 0;
  #leaving = 0;
  /** Requests so far. */
  requests = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** True when only asking for an envelope by itself shows its signers. */
  get needsEach(): boolean {
    return this.#listsLackSigners && this.#signersShown !== false;
  }

  /**
   * Reads list pages as long as that is cheaper than asking for each of the rest, and takes from `rest` what it finds.
   * Yields the envelopes page by page: those wanted, and those with a status of `discover`.
   */
  async *lists(
    rest: Map<string, string | undefined>,
    discover: readonly string[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Envelope[], void, undefined> {
    const isNew = [...rest.values()].every((status) => status === undefined);
    const isFew = rest.size <= (isNew || this.needsEach ? FEW : 1);
    if (!this.#lists || (isFew && discover.length === 0)) return;
    if (++this.#polls % SURVEY_POLLS === 0) this.#pages.clear();
    const wanted = new Set(rest.keys());
    const reading = new ListReading(Math.max(FEW, rest.size));
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

  /** How many have ended in the last look: about as many will have left their lists in the next. */
  expect(leaving: number): void {
    this.#leaving = leaving;
  }

  /** Asks for each by itself; in the order of the ids. */
  async *each(
    ids: readonly string[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<PollResult, void, undefined> {
    yield* mapInOrder(ids, CONCURRENCY, (id) => this.#one(id, signal));
  }

  /** The next page of a list. */
  async #page(list: string, reading: ListReading, signal: AbortSignal | undefined) {
    const number = reading.next(list);
    const status = list === ALL ? undefined : list;
    this.requests++;
    const page = await this.#client.envelopes.page(number, { status, signal });
    this.#noteSigners(page.items);
    const isIgnored = status !== undefined && mostDiffer(page.items, status);
    // A service that ignores the filter has sent the whole list.
    if (isIgnored) this.#filters = false;
    const name = isIgnored ? ALL : list;
    reading.addPage(name, page);
    if (page.totalPages !== undefined) this.#pages.set(name, page.totalPages);
    else this.#pages.delete(name);
    return page.items;
  }

  /** What can't be listed may still be asked for by its id. */
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

/** How far each list has been read in one look. */
class ListReading {
  readonly read = new Map<string, number>();
  readonly done = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #most: number;

  /** @param most pages of a list that does not say how long it is */
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

/** True when it tells of each signer where they stand. */
export function showsSigners(envelope: Envelope): boolean {
  return envelope.signers?.every((one) => typeof one.status === 'string') ?? false;
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && [400, 403, 404, 405].includes(error.status);
}

function mostDiffer(items: readonly Envelope[], status: string): boolean {
  return items.filter((item) => item.status !== status).length * 2 > items.length;
}
