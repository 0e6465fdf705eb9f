import { timeOf } from '../kernel/clock.ts';
import type { SendRequest } from './http.ts';
import { type ApiPage, type PageRequest, readPage, walkPages } from './pages.ts';

/** How long a new envelope may be missing from the list, in ms. After that, it is certainly listed. */
export const MAX_LIST_LAG_MS = 60_000;

/** The least number of items that shows an order. Fewer may be sorted by chance. */
const SAMPLE = 10;

export type Order = 'newest-first' | 'oldest-first' | 'unknown';

/**
 * Yields the items of a list that were created at `since` (ms) or later, without reading the rest of a long list if its order
 * allows that. The API document doesn't define the order, so it is determined from the first page. `since` is called after that
 * page, whose response may be the first with the service's time. Items without a time are always included.
 */
export async function* walkRecent<T extends { id: string; createdAt?: string | null | undefined }>(
  send: SendRequest,
  request: PageRequest,
  read: (item: unknown, status: number) => T,
  sinceWhen: () => number,
): AsyncGenerator<T, void, undefined> {
  const first = await readPage(send, request, 1);
  const since = sinceWhen();
  const items = (page: ApiPage) => page.items.map((item) => read(item, page.status));
  const order = orderOf(items(first));
  const last = first.totalPages;
  if (order === 'unknown' || last === undefined) {
    yield* walkPages(send, request, read, first);
    return;
  }
  if (order === 'oldest-first' && last > 1) yield* fromTheEnd(send, request, items, last, since);
  for (let number = 1, page = first; ; page = await readPage(send, request, ++number)) {
    const here = items(page);
    yield* here.filter((item) => !isBefore(item, since));
    // A single old item doesn't end the search, because pages shift when envelopes are added. Only a page of old items does.
    const allOld = here.every((item) => isBefore(item, since));
    if (order === 'oldest-first' || allOld || number >= last) return;
  }
}

/** Yields the items of the last page back to the second, until a whole page is too old, then of a page added in the meantime. */
async function* fromTheEnd<T extends { createdAt?: string | null | undefined }>(
  send: SendRequest,
  request: PageRequest,
  items: (page: ApiPage) => T[],
  last: number,
  since: number,
): AsyncGenerator<T, void, undefined> {
  for (let number = last; number > 1; number--) {
    const page = await readPage(send, request, number);
    const here = items(page);
    yield* here.filter((item) => !isBefore(item, since));
    if (here.length > 0 && here.every((item) => isBefore(item, since))) break;
  }
  const after = await readPage(send, request, last + 1);
  yield* items(after);
}

/** Returns the order of a list as far as one page shows it. */
export function orderOf(items: readonly { createdAt?: string | null | undefined }[]): Order {
  const times = items.map((item) => timeOf(item.createdAt));
  if (times.length < SAMPLE || times.some(Number.isNaN)) return 'unknown';
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const [falls, rises] = [steps.some((step) => step < 0), steps.some((step) => step > 0)];
  if (falls === rises) return 'unknown';
  return falls ? 'newest-first' : 'oldest-first';
}

function isBefore(item: { createdAt?: string | null | undefined }, since: number): boolean {
  return timeOf(item.createdAt) < since;
}
