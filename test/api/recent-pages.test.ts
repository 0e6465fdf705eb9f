import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SendRequest } from '../../src/api/http.ts';
import { walkRecent } from '../../src/api/recent-pages.ts';
import { isRecord } from '../../src/kernel/json.ts';

interface Item {
  id: string;
  createdAt?: string | null;
}

const rate = { limit: undefined, remaining: undefined, resetAt: undefined, retryAfterMs: undefined };

/** A list of this many items, one per ms, in the given order, with the number of pages that were read. */
function listOf(total: number, order: 'asc' | 'desc' | 'mixed' | 'none', pageSize: number) {
  const items = Array.from({ length: total }, (_, i): Item => {
    const at = { asc: i, desc: total - i, mixed: i % 2 === 0 ? i : total - i, none: 0 }[order] + 1;
    return order === 'none' ? { id: `e${i}` } : { id: `e${i}`, createdAt: new Date(at).toISOString() };
  });
  const pages: number[] = [];
  const send: SendRequest = ({ query }) => {
    const page = Number(query?.page);
    pages.push(page);
    const data = items.slice((page - 1) * pageSize, page * pageSize);
    const pagination = { page, pageSize, total, totalPages: Math.ceil(total / pageSize) };
    return Promise.resolve({ status: 200, body: { data, meta: { pagination } }, rate });
  };
  return { items, pages, send };
}

function read(item: unknown): Item {
  if (!isRecord(item) || typeof item.id !== 'string') throw new Error('no item');
  return { id: item.id, ...(typeof item.createdAt === 'string' ? { createdAt: item.createdAt } : {}) };
}

async function recentOf(send: SendRequest, pageSize: number, since: number): Promise<string[]> {
  const found: string[] = [];
  for await (const item of walkRecent(send, { path: '/', pageSize }, read, () => since)) found.push(item.id);
  return found;
}

describe('the recent items of a list', () => {
  it('are all found in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 90 }),
        fc.constantFrom('asc', 'desc', 'mixed', 'none'),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(100),
        async (total, order, pageSize, since) => {
          const { items, send } = listOf(total, order, pageSize);
          const found = new Set(await recentOf(send, pageSize, since));
          const wanted = items.filter(
            (item) => item.createdAt === undefined || Date.parse(item.createdAt ?? '') >= since,
          );
          for (const item of wanted) expect(found).toContain(item.id);
        },
      ),
    );
  });

  it.each(['asc', 'desc'] as const)('are found with a few pages of a long list: %s', async (order) => {
    const { pages, send } = listOf(10_000, order, 100);
    expect(await recentOf(send, 100, 9_950)).toHaveLength(order === 'asc' ? 51 : 52);
    expect(pages.length).toBeLessThanOrEqual(4);
  });

  /** A list with the given pages of times, and the pages that were read. */
  function pagesOf(pages: readonly (readonly (number | null)[])[], count = true) {
    const read: number[] = [];
    const send: SendRequest = ({ query }) => {
      const page = Number(query?.page);
      read.push(page);
      const data = (pages[page - 1] ?? []).map((at, i) => ({
        id: `${page}-${i}`,
        createdAt: at === null ? null : new Date(at).toISOString(),
      }));
      const meta = count ? { pagination: { totalPages: Math.min(pages.length, 3) } } : {};
      return Promise.resolve({ status: 200, body: { data, meta }, rate });
    };
    return { send, read };
  }
  const falling = (from: number) => Array.from({ length: 10 }, (_, i) => from - i);
  const rising = (from: number) => falling(from).reverse();

  it('are searched further when a page has old items among new ones', async () => {
    const { send } = pagesOf([falling(90), [80, 10, 79, 11, 78], falling(70)]);
    expect(await recentOf(send, 10, 65)).toContain('3-0');
    const reversed = pagesOf([rising(30), rising(60), [89, 2, 90]]);
    expect(await recentOf(reversed.send, 10, 55)).toContain('2-9');
  });

  it('are searched further when the last page is empty', async () => {
    const { send } = pagesOf([rising(30), rising(60), []]);
    expect(await recentOf(send, 10, 55)).toContain('2-9');
  });

  it('include items added at the end during the search', async () => {
    const { send } = pagesOf([rising(30), rising(60), rising(90), [100, 101]]);
    expect(await recentOf(send, 10, 85)).toEqual(expect.arrayContaining(['4-0', '4-1']));
  });

  it('are all read if the service reports no page count', async () => {
    const { send, read: pagesRead } = pagesOf([falling(90), falling(80)], false);
    expect(await recentOf(send, 10, 85)).toHaveLength(20);
    expect(pagesRead).toEqual([1, 2, 3]);
  });
});
