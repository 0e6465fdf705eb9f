import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { ENVELOPE_STATUSES, IN_FLIGHT, showsSigners } from '../../kernel/statuses.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';

/** Up to this many envelopes are read by ID if lists contain less. */
export const MAX_READ_BY_ID = 12;

/** The unfiltered list, as opposed to the list of one status. */
const ALL = '';

/** The envelopes to read, with their last known statuses. */
type Rest = Map<string, string | undefined>;

/**
 * Reads lists as long as that takes fewer requests than reading each envelope. It chooses between lists after each page, so it doesn't
 * need the walk of catalog/envelope-list.ts, which reads a list to its end.
 */
export class ListPoller {
  readonly #client: Client;
  /** The number of pages each list had when it was last read. */
  readonly #pages = new Map<string, number>();
  #lacksSigners = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** True if list items have no signers. */
  get lacksSigners(): boolean {
    return this.#lacksSigners;
  }

  /** Yields the envelopes page by page, and removes them from `rest`. What is left has to be read by ID. */
  async *read(rest: Rest, signal: AbortSignal | undefined): AsyncGenerator<Envelope[], void, undefined> {
    const wanted = new Set(rest.keys());
    const isFirst = [...rest.values()].every((status) => status === undefined);
    const few = isFirst || this.#lacksSigners ? MAX_READ_BY_ID : 1;
    const read = new Map<string, number>();
    for (let requests = 0; rest.size > few && requests < wanted.size; requests++) {
      const list = this.#cheapestList(rest, read);
      if (list === undefined) return;
      const number = (read.get(list) ?? 0) + 1;
      read.set(list, number);
      const items = await this.#readPage(list, number, signal);
      for (const { id } of items) rest.delete(id);
      yield items.filter(({ id }) => wanted.has(id));
    }
  }

  async #readPage(list: string, number: number, signal: AbortSignal | undefined): Promise<Envelope[]> {
    const status = list === ALL ? undefined : list;
    const { items, totalPages } = await this.#client.envelopes.page(number, { status, signal });
    // Without a page count, a list ends with an empty page.
    this.#pages.set(list, totalPages ?? (items.length > 0 ? number + 1 : number));
    if (items.length > 0) this.#lacksSigners = !items.every(showsSigners);
    return items;
  }

  /** Returns the list to read next: the one of all envelopes or of a status. Undefined if reading each by ID takes fewer requests. */
  #cheapestList(rest: Rest, read: ReadonlyMap<string, number>): string | undefined {
    const left = (list: string, expected: number) =>
      Math.max(1, this.#pages.get(list) ?? Math.ceil(expected / LIMITS.pageSize)) - (read.get(list) ?? 0);
    const all = left(ALL, rest.size);
    if (all <= 0) return undefined;
    const amounts = amountsByStatus(rest);
    // In the order of an envelope's life, so that one that moves on meanwhile isn't missed.
    const lists = ENVELOPE_STATUSES.flatMap((status) => {
      const amount = amounts.get(status) ?? 0;
      const pages = amount === 0 ? 0 : left(status, amount);
      return pages > 0 ? [{ status, amount, pages }] : [];
    });
    const single = lists.reduce((sum, { amount }) => sum - amount, rest.size);
    const byStatus = lists.reduce((sum, { pages }) => sum + pages, Math.ceil(single));
    // Envelopes that changed are in another list than expected, so the unfiltered one may take twice the requests.
    if (all <= rest.size && all <= 2 * byStatus) return ALL;
    return byStatus < rest.size ? lists[0]?.status : undefined;
  }
}

/** Returns how many of the envelopes are probably in the list of each status. */
function amountsByStatus(rest: Rest): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const status of rest.values()) {
    const likely = status === undefined ? IN_FLIGHT : [status];
    for (const one of likely) amounts.set(one, (amounts.get(one) ?? 0) + 1 / likely.length);
  }
  return amounts;
}
