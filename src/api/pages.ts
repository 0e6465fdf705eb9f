import { BadResponseError } from '../kernel/errors.ts';
import { isRecord } from '../kernel/json.ts';
import { LIMITS } from '../kernel/vocabulary.ts';
import type { SendRequest } from './http.ts';
import type { RawResponse } from './response.ts';
import { listResponseSchema, readAs } from './schemas.ts';

export interface PageRequest {
  /** The path of the list, which may contain a query. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** 1 to 100 (API document, Pagination parameters). */
  pageSize?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the total number of items of each page that has it. */
  onTotal?: ((total: number) => void) | undefined;
  /**
   * Ends only after reading the page after the last one and page 1 again without finding new items. Otherwise, an item could be
   * missed because it moved to another page in the meantime or because the page count is too low.
   */
  isThorough?: boolean | undefined;
}

/** One page: the items as sent by the service, and the number of pages if the service returns it. */
export interface ApiPage {
  items: unknown[];
  status: number;
  /** The whole response as text. */
  text: string;
  totalPages: number | undefined;
  total: number | undefined;
}

export async function readPage(send: SendRequest, request: PageRequest, page: number): Promise<ApiPage> {
  const pageSize = request.pageSize ?? LIMITS.pageSize;
  const query = { ...request.query, page: String(page), pageSize: String(pageSize) };
  let text = '';
  const onResponse = (response: RawResponse) => {
    text = response.text;
  };
  const { path, signal } = request;
  const response = await send({ method: 'GET', path, query, signal, cutsDeep: true, onResponse });
  const list = readAs(listResponseSchema, response.body, 'a list', response.status);
  const { total, totalPages } = list.meta?.pagination ?? {};
  return {
    items: list.data,
    status: response.status,
    text,
    totalPages: totalPages ?? undefined,
    total: typeof total === 'number' ? total : undefined,
  };
}

/** A page, with the indexes of items that were not on earlier pages. */
export interface WalkedPage {
  page: ApiPage;
  fresh: number[];
}

/** How often a walk goes back at most, because a service could report lower and lower totals forever. */
const MAX_RETURNS = 1_000;

/** How many pages in a row may have no new item, because items were added in the meantime. */
export const MAX_REPEATED_PAGES = 10;

/** Returns the error for a list with more such pages. Its end is unknown, so it proves nothing about what is missing. */
export function endlessListError(status: number): BadResponseError {
  return new BadResponseError(`The list doesn't end: ${MAX_REPEATED_PAGES} pages in a row had nothing new.`, {
    status,
    hint: "The service may ignore the page parameter, or count pages that it doesn't have.",
  });
}

/**
 * Yields every page of a list. If items are added in the meantime, pages shift and an item can appear
 * twice, but it is fresh only once. If the total falls, items may have moved to pages already read, which are read again. Ends at
 * the last page by the service's count, an empty page, or, if the service counts no pages, a page without new items.
 *
 * ```ts
 * for await (const { page, fresh } of eachPage(send, { path: '/esign/envelopes' }))
 *   for (const index of fresh) console.log(page.items[index]);
 * ```
 * @throws BadResponseError if the list doesn't end.
 */
export async function* eachPage(
  send: SendRequest,
  request: PageRequest,
): AsyncGenerator<WalkedPage, void, undefined> {
  const seen = new Set<string>();
  let before = '';
  const freshOf = (page: ApiPage) => {
    const isAgain = page.text === before;
    before = page.text;
    return [...page.items.keys()].filter((index) => isNew(page.items[index], seen, isAgain));
  };
  const pagesBack = trackShrinkage();
  let furthest = 0;
  let repeated = 0;
  let page = await readPage(send, request, 1);
  for (let number = 1; ; page = await readPage(send, request, ++number)) {
    const fresh = freshOf(page);
    yield { page, fresh };
    // A page that is read again is expected to have nothing new.
    if (fresh.length > 0) repeated = 0;
    else if (number > furthest) repeated++;
    furthest = Math.max(furthest, number);
    const back = pagesBack(page);
    if (back > 0) number = Math.max(1, number - back) - 1;
    else if (isLast(page, number, fresh.length > 0, request)) break;
    else if (repeated === MAX_REPEATED_PAGES) throw endlessListError(page.status);
  }
  for (let number = 1; request.isThorough; number++) {
    page = await readPage(send, request, number);
    const fresh = freshOf(page);
    if (fresh.length === 0) return;
    yield { page, fresh };
  }
}

function isLast(
  { items, totalPages }: ApiPage,
  number: number,
  isFresh: boolean,
  { isThorough }: PageRequest,
): boolean {
  if (items.length === 0) return true;
  // If a service ignores `page`, it returns the same page every time.
  return totalPages === undefined || (isThorough && isFresh) ? !isFresh : number >= totalPages;
}

/** Creates a function that returns by how many pages the items may have moved since the page before. */
function trackShrinkage(): (page: ApiPage) => number {
  let total = 0;
  // A service may return smaller pages than requested.
  let pageSize = 1;
  let returns = 0;
  return (page) => {
    const moved = total - (page.total ?? total);
    total -= moved;
    pageSize = Math.max(pageSize, page.items.length);
    return moved > 0 && returns++ < MAX_RETURNS ? Math.ceil(moved / pageSize) : 0;
  };
}

function isNew(item: unknown, seen: Set<string>, isAgain: boolean): boolean {
  const id = isRecord(item) ? item.id : undefined;
  if (typeof id !== 'string') return !isAgain;
  if (seen.has(id)) return false;
  seen.add(id);
  return true;
}

/** Yields the items of every page (`eachPage`), each ID only once. */
export async function* walkPages<T extends { id: string }>(
  send: SendRequest,
  request: PageRequest,
  read: (item: unknown, status: number) => T,
): AsyncGenerator<T, void, undefined> {
  for await (const { page, fresh } of eachPage(send, request)) {
    if (page.total !== undefined) request.onTotal?.(page.total);
    for (const index of fresh) yield read(page.items[index], page.status);
  }
}
