import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import { completeItem } from './envelope-list.ts';
import { isUnfiltered, itemFilter, type Selection } from './selection.ts';

export interface ListOptions {
  pageSize?: number | undefined;
  /** Receives the total, if the service returns it and nothing is filtered here. */
  onTotal?: ((total: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Yields the envelopes that match, in the order of the service's list. The service filters by one status; the rest is filtered here.
 * The order of the list is not documented, so every page is read. Items that lack a field of the filter are read with a GET. It
 * doesn't find the envelopes of a run.
 */
export async function* listMatching(
  client: Client,
  selection: Selection,
  { signal, pageSize, onTotal }: ListOptions = {},
): AsyncGenerator<Envelope, void, undefined> {
  const status = selection.statuses?.length === 1 ? selection.statuses[0] : undefined;
  const list = { status, pageSize, signal, onTotal: isUnfiltered(selection) ? onTotal : undefined };
  let filter: ReturnType<typeof itemFilter> | undefined;
  for await (const item of client.envelopes.list(list)) {
    // The first response has set the service's clock.
    filter ??= itemFilter(selection, client.serviceClock.now());
    const answer = filter(item);
    const one = answer === undefined ? await completeItem(client, item, signal) : item;
    if (answer ?? filter(one)) yield one;
  }
}
