import { LIMITS } from '../kernel/vocabulary.ts';
import type { SendRequest } from './http.ts';
import { listReplySchema, readAs } from './schemas.ts';

export interface PageRequest {
  path: string;
  query?: Readonly<Record<string, string>>;
  /** 1 to 100 (API document, Pagination parameters). */
  pageSize?: number;
  signal?: AbortSignal | undefined;
  /** Told by the first page how many items there are in all, where the service says so. */
  onTotal?: ((total: number) => void) | undefined;
}

/** One page: its items as the service sent them, and how many pages there are, where the service says so. */
export interface Page {
  items: unknown[];
  status: number;
  totalPages: number | undefined;
  total: number | undefined;
}

/** Reads one page of a list. */
export async function readPage(send: SendRequest, request: PageRequest, page: number): Promise<Page> {
  const pageSize = request.pageSize ?? LIMITS.pageSize;
  const reply = await send({
    method: 'GET',
    path: request.path,
    query: { ...request.query, page: String(page), pageSize: String(pageSize) },
    signal: request.signal,
  });
  const list = readAs(listReplySchema, reply.body, 'a list', reply.status);
  const { total, totalPages } = list.meta?.pagination ?? {};
  return {
    items: list.data,
    status: reply.status,
    totalPages: totalPages ?? undefined,
    total: typeof total === 'number' ? total : undefined,
  };
}

/**
 * Walks every page of a list, each id once: when something is added during the walk, pages shift and
 * an item can come twice. Ends on the last page by the service's count, or on the first empty page.
 * `first`: the first page, where it was read already.
 */
export async function* walkPages<T extends { id: string }>(
  send: SendRequest,
  request: PageRequest,
  read: (item: unknown, status: number) => T,
  first?: Page,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  let page = first ?? (await readPage(send, request, 1));
  if (page.total !== undefined) request.onTotal?.(page.total);
  for (let number = 1; ; page = await readPage(send, request, ++number)) {
    const before = seen.size;
    for (const raw of page.items) {
      const item = read(raw, page.status);
      if (seen.has(item.id)) continue;
      seen.add(item.id);
      yield item;
    }
    if (isLast(page, number, seen.size > before)) return;
  }
}

function isLast({ items, totalPages }: Page, number: number, broughtNew: boolean): boolean {
  if (totalPages !== undefined) return items.length === 0 || number >= totalPages;
  // A service that ignores `page` would send the same page for ever.
  return !broughtNew;
}
