import type { Client } from '../api/client.ts';
import { endlessListError, MAX_REPEATED_PAGES } from '../api/pages.ts';
import { READ_CONCURRENCY } from '../api/request-defaults.ts';
import type { Envelope } from '../api/resource-types.ts';
import type { EnvelopePage } from '../api/resources.ts';
import { CLOCK_SLACK_MS } from '../api/service-clock.ts';
import { timeOf } from '../kernel/clock.ts';
import { undefinedIfNotFound } from '../kernel/request-failures.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { hasMarker } from './markers.ts';

/*
 * Reading the service's list of envelopes. The API document defines neither its order nor its items, and the list changes while it
 * is read: items are added, leave it, or move to other pages. `client.envelopes.list` reads all of it, each item once.
 */

/** How long a new envelope may be missing from the list, in ms. After that, it is certainly listed. */
export const MAX_LIST_LAG_MS = 60_000;

/** The least number of items that shows an order. Fewer may be sorted by chance. */
const SAMPLE = 10;

/** Returns the order of a list as far as one page shows it. */
export function sortOrderOf(
  items: readonly Pick<Envelope, 'createdAt'>[],
): 'newest-first' | 'oldest-first' | 'unknown' {
  const times = items.map((item) => timeOf(item.createdAt));
  if (times.length < SAMPLE || times.some(Number.isNaN)) return 'unknown';
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const [falls, rises] = [steps.some((step) => step < 0), steps.some((step) => step > 0)];
  if (falls === rises) return 'unknown';
  return falls ? 'newest-first' : 'oldest-first';
}

export interface RecentOptions {
  signal?: AbortSignal | undefined;
  /** Page 1, if it was already read. */
  first?: EnvelopePage | undefined;
  /** Called with each page, also with the older items on it. If it returns true, no more pages are read. */
  onPage?: ((page: EnvelopePage) => boolean) | undefined;
}

/**
 * Yields the items that were created at `sinceWhen` (ms, by the service's clock; called after the first response) or later, each
 * once, and those without a time. If the list is sorted, older pages are not read.
 */
export async function* recentItems(
  client: Client,
  sinceWhen: () => number,
  { signal, first: given, onPage = () => false }: RecentOptions = {},
): AsyncGenerator<Envelope, void, undefined> {
  const seen = new Set<string>();
  const first = given ?? (await client.envelopes.page(1, { signal }));
  const since = sinceWhen();
  const isRecent = (item: Envelope) => !(timeOf(item.createdAt) < since);
  for await (const page of recentPages(client, first, isRecent, { signal, seen })) {
    const added = page.items.filter(({ id }) => !seen.has(id));
    for (const { id } of added) seen.add(id);
    yield* added.filter(isRecent);
    if (onPage(page)) return;
  }
}

/** `seen`: the IDs of the items that were yielded so far. */
interface PagesOptions {
  signal: AbortSignal | undefined;
  seen: ReadonlySet<string>;
}

/** Yields the pages that may have recent items, beginning with the first one. */
async function* recentPages(
  client: Client,
  first: EnvelopePage,
  isRecent: (item: Envelope) => boolean,
  options: PagesOptions,
): AsyncGenerator<EnvelopePage, void, undefined> {
  const order = sortOrderOf(first.items);
  const { totalPages: last } = first;
  yield first;
  if (order === 'newest-first') yield* pagesFromTheStart(client, first, isRecent, options);
  else if (order === 'oldest-first' && last !== undefined)
    yield* pagesFromTheEnd(client, last, isRecent, options);
  else if (last !== 1) yield* allPages(client, options.signal);
}

/**
 * Yields the second page and those after it, until a whole page is too old. A single old item ends nothing, because pages shift when
 * envelopes are added. Each page counts again, because what is added moves the oldest items to a page that wasn't there.
 */
async function* pagesFromTheStart(
  client: Client,
  first: EnvelopePage,
  isRecent: (item: Envelope) => boolean,
  { signal, seen }: PagesOptions,
): AsyncGenerator<EnvelopePage, void, undefined> {
  let page = first;
  let repeated = 0;
  for (let number = 2; page.items.some(isRecent) && number <= (page.totalPages ?? number); number++) {
    if (repeated === MAX_REPEATED_PAGES) throw endlessListError(200);
    const [before, count] = [page.items[0]?.id, seen.size];
    page = await client.envelopes.page(number, { signal });
    yield page;
    // A list without a count may repeat its last page.
    if (page.totalPages === undefined && page.items[0]?.id === before) return;
    repeated = seen.size > count ? 0 : repeated + 1;
  }
}

/** Yields all items of the list, each as a page. */
async function* allPages(
  client: Client,
  signal: AbortSignal | undefined,
): AsyncGenerator<EnvelopePage, void, undefined> {
  for await (const item of client.envelopes.list({ signal })) yield { items: [item], totalPages: undefined };
}

/**
 * Yields the last page back to the second, until a whole page is too old, then a page that was added in the meantime. If the service
 * counts pages that it doesn't have, yields the whole list instead.
 */
async function* pagesFromTheEnd(
  client: Client,
  last: number,
  isRecent: (item: Envelope) => boolean,
  { signal, seen }: PagesOptions,
): AsyncGenerator<EnvelopePage, void, undefined> {
  if (last === 1) return;
  for (let number = last, repeated = 0; number > 1; number--) {
    const count = seen.size;
    const page = await client.envelopes.page(number, { signal });
    yield page;
    if (page.items.length > 0 && !page.items.some(isRecent)) break;
    repeated = seen.size > count ? 0 : repeated + 1;
    if (repeated === MAX_REPEATED_PAGES) return yield* allPages(client, signal);
  }
  yield await client.envelopes.page(last + 1, { signal });
}

/** Options for reading the envelopes that carry markers of esign. */
export interface MarkedEnvelopesOptions {
  signal?: AbortSignal | undefined;
  /**
   * Leaves out envelopes created before this time (ms, by the service's clock; called after the first response) if the list shows
   * times. Don't use this machine's clock before a create: it may be wrong.
   */
  since?: (() => number) | undefined;
  /** Envelopes that were already read. The walk adds each one it reads, so that the next walk skips it. */
  known?: Set<string> | undefined;
  /** Envelopes that have markers. If the list shows one of them without, it may leave out the markers of any envelope. */
  marked?: { has: (id: string) => boolean } | undefined;
  /** Counts what was read: all envelopes, and those with a marker. Without any marker, the service may show none. */
  evidence?: { items: number; marked: number } | undefined;
}

/**
 * Yields every envelope that carries a marker (request ID, run, row, or the envelope it replaces) once, with its metadata.
 *
 * A list item that shows no marker is completed with a GET: services may leave metadata out of their lists, or show it as
 * null or empty. An item's template is ignored. If the list shows markers of another envelope, an item without one is taken as
 * unmarked once it is ten minutes old. Otherwise, each walk would read every envelope that was created without esign.
 */
export async function* markedEnvelopes(
  client: Client,
  walk: MarkedEnvelopesOptions = {},
): AsyncGenerator<Envelope, void, undefined> {
  const { signal, known = new Set(), marked = new Set(), evidence = { items: 0, marked: 0 } } = walk;
  const unmarked: Pick<Envelope, 'id' | 'metadata' | 'createdAt'>[] = [];
  let listShowsMarkers = false;
  for await (const item of certainItems(client, walk)) {
    const { id, metadata, createdAt } = item;
    evidence.items++;
    if (hasMarker(item)) {
      evidence.marked++;
      listShowsMarkers = true;
      yield item;
    } else if (!known.has(id)) unmarked.push({ id, metadata, createdAt });
  }
  const trustedBefore =
    listShowsMarkers && !unmarked.some(({ id }) => marked.has(id))
      ? client.serviceClock.now() - CLOCK_SLACK_MS
      : Number.NEGATIVE_INFINITY;
  const unknown = unmarked.filter(
    ({ metadata, createdAt }) => metadata === undefined || !(timeOf(createdAt) < trustedBefore),
  );
  const read = ({ id }: { id: string }) => readIfExists(client, id, signal);
  for await (const envelope of mapInOrder(unknown, READ_CONCURRENCY, read)) {
    if (envelope === undefined) continue;
    if (hasMarker(envelope)) {
      evidence.marked++;
      yield envelope;
    } else known.add(envelope.id);
  }
}

/** How often a walk begins again at most, because a service could report lower and lower totals forever. */
const MAX_WALKS = 10;

/** Yields each item of the list once. An item that it doesn't yield wasn't in the list: none can have moved past the reader. */
async function* certainItems(
  client: Client,
  { signal, since }: MarkedEnvelopesOptions,
): AsyncGenerator<Envelope, void, undefined> {
  if (since === undefined) return yield* client.envelopes.list({ signal, isThorough: true });
  const seen = new Set<string>();
  let first: EnvelopePage | undefined;
  for (let walks = 0, shrank = true; shrank && walks < MAX_WALKS; walks++) {
    let most = 0;
    shrank = false;
    const onPage = ({ total = most }: EnvelopePage) => {
      shrank ||= total < most;
      most = Math.max(most, total);
      return false;
    };
    for await (const item of recentItems(client, since, { signal, first, onPage })) {
      if (seen.has(item.id)) continue;
      seen.add(item.id);
      yield item;
    }
    first = await client.envelopes.page(1, { signal });
    onPage(first);
  }
  // Without a total, nothing else shows that an item has moved to page 1.
  for (const item of first?.items ?? [])
    if (!seen.has(item.id) && !(timeOf(item.createdAt) < since())) yield item;
}

/** Yields the envelopes. Those that lack fields are read one by one. */
export async function* completeItems(
  client: Client,
  envelopes: AsyncIterable<Envelope>,
  isComplete: (item: Envelope) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<Envelope, void, undefined> {
  for await (const one of envelopes) yield isComplete(one) ? one : await completeItem(client, one, signal);
}

/** Reads the whole envelope; returns the list item if it no longer exists. */
export async function completeItem(client: Client, item: Envelope, signal?: AbortSignal): Promise<Envelope> {
  return (await readIfExists(client, item.id, signal)) ?? item;
}

/** Returns the envelope; undefined if it doesn't exist. */
export function readIfExists(
  client: Client,
  id: string,
  signal?: AbortSignal,
): Promise<Envelope | undefined> {
  return undefinedIfNotFound(client.envelopes.getListed(id, signal));
}
