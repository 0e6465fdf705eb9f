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

/** A list of so many items, one per ms, in an order; and how many pages were read. */
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
  for await (const item of walkRecent(send, { path: '/', pageSize }, read, since)) found.push(item.id);
  return found;
}

describe('the recent items of a list', () => {
  it('are all found, whatever the order', async () => {
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

  it.each(['asc', 'desc'] as const)('cost a few pages of a long list: %s', async (order) => {
    const { pages, send } = listOf(10_000, order, 100);
    expect(await recentOf(send, 100, 9_950)).toHaveLength(order === 'asc' ? 51 : 52);
    expect(pages.length).toBeLessThanOrEqual(4);
  });
});
