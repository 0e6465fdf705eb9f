import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SendRequest } from '../../src/api/http.ts';
import { walkPages } from '../../src/api/pages.ts';
import { isRecord } from '../../src/kernel/json.ts';

const rate = { limit: undefined, remaining: undefined, resetAt: undefined, retryAfterMs: undefined };

interface ListOptions {
  counts: boolean;
  insert?: (page: number) => string[];
  leave?: (page: number) => ReadonlySet<string>;
}

/** A paginated list. Before a page is returned, `insert` can add items at its start, and `leave` remove some. */
function service(initial: string[], options: ListOptions) {
  let items = [...initial];
  let calls = 0;
  const send: SendRequest = (request) => {
    calls++;
    const page = Number(request.query?.page);
    const size = Number(request.query?.pageSize);
    items = [...(options.insert?.(page) ?? []), ...items];
    const gone = options.leave?.(page);
    items = items.filter((id) => !gone?.has(id));
    const data = items.slice((page - 1) * size, page * size).map((id) => ({ id }));
    const pagination = {
      page,
      pageSize: size,
      total: items.length,
      totalPages: Math.ceil(items.length / size),
    };
    return Promise.resolve({
      status: 200,
      body: options.counts ? { data, meta: { pagination } } : { data },
      rate,
    });
  };
  return { send, calls: () => calls };
}

const read = (item: unknown) => ({ id: isRecord(item) ? String(item.id) : '' });

async function walk(send: SendRequest, pageSize: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const item of walkPages(send, { path: '/x', pageSize }, read)) ids.push(item.id);
  return ids;
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `id${i}`);

describe('pagination', () => {
  it('yields each item once, with and without counts, at any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(60),
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        async (count, size, counts) => {
          expect(await walk(service(names(count), { counts }).send, size)).toEqual(names(count));
        },
      ),
    );
  });

  it('loses and repeats nothing when items are added during the walk', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(40),
        fc.integer({ min: 1, max: 7 }),
        fc.array(fc.nat(3), { maxLength: 20 }),
        async (count, size, growth) => {
          const insert = (page: number) =>
            Array.from({ length: page > 1 ? (growth[page] ?? 0) : 0 }, (_, i) => `new${page}-${i}`);
          const walked = await walk(service(names(count), { counts: true, insert }).send, size);
          expect(new Set(walked).size).toBe(walked.length);
          expect(walked.filter((id) => !id.startsWith('new'))).toEqual(names(count));
        },
      ),
    );
  });

  it('loses no item that stays when others leave the list during the walk', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(60),
        fc.integer({ min: 1, max: 7 }),
        fc.array(fc.array(fc.nat(60), { maxLength: 9 }), { maxLength: 20 }),
        async (count, size, leaving) => {
          const gone = new Set<string>();
          const calls = [...leaving];
          const leave = (page: number) => {
            for (const index of page > 1 ? (calls.shift() ?? []) : []) gone.add(`id${index}`);
            return gone;
          };
          const walked = await walk(service(names(count), { counts: true, leave }).send, size);
          expect(new Set(walked).size).toBe(walked.length);
          expect(names(count).filter((id) => !gone.has(id) && !walked.includes(id))).toEqual([]);
        },
      ),
    );
  });

  it('goes back far enough if the service returns smaller pages than requested', async () => {
    const all = names(60);
    const gone = new Set<string>();
    const leave = (page: number) => {
      if (page === 4) for (const id of all.slice(0, 30)) gone.add(id);
      return gone;
    };
    const { send } = service(all, { counts: true, leave });
    const capped: SendRequest = (request) =>
      send({ ...request, query: { ...request.query, pageSize: '10' } });
    expect(await walk(capped, 100)).toEqual(expect.arrayContaining(all.slice(30)));
  });

  it('ends if the service reports lower totals forever', async () => {
    let total = 1e9;
    const send: SendRequest = ({ query }) => {
      const data = [{ id: `id${query?.page}` }];
      return Promise.resolve({
        status: 200,
        body: { data, meta: { pagination: { total: total--, totalPages: 3 } } },
        rate,
      });
    };
    expect(await walk(send, 1)).toEqual(['id1', 'id2', 'id3']);
  });

  it('fails if the service counts pages without end, because the list proves nothing then', async () => {
    const data = names(2).map((id) => ({ id }));
    let calls = 0;
    const send: SendRequest = ({ query }) => {
      calls++;
      const pagination = { page: Number(query?.page), total: 1e9, totalPages: 1e9 };
      return Promise.resolve({ status: 200, body: { data, meta: { pagination } }, rate });
    };
    await expect(walk(send, 2)).rejects.toMatchObject({ code: 'BAD_RESPONSE' });
    expect(calls).toBe(11);
  });

  it('requests no page beyond the last one when the service reports a count', async () => {
    const list = service(names(200), { counts: true });
    await walk(list.send, 100);
    expect(list.calls()).toBe(2);
  });

  it('stops when the service returns the same page again and again', async () => {
    const send: SendRequest = () =>
      Promise.resolve({ status: 200, body: { data: [{ id: 'a' }, { id: 'b' }] }, rate });
    expect(await walk(send, 2)).toEqual(['a', 'b']);
  });

  it('requests no more pages once the caller has enough items', async () => {
    const list = service(names(1_000), { counts: true });
    for await (const item of walkPages(list.send, { path: '/x', pageSize: 10 }, read))
      if (item.id === 'id15') break;
    expect(list.calls()).toBe(2);
  });

  it('stops at an empty page, even if the reported count is higher', async () => {
    let calls = 0;
    const send: SendRequest = () => {
      calls++;
      const data = calls === 1 ? [{ id: 'a' }] : [];
      return Promise.resolve({
        status: 200,
        body: { data, meta: { pagination: { total: 900, totalPages: 9 } } },
        rate,
      });
    };
    expect(await walk(send, 1)).toEqual(['a']);
    expect(calls).toBe(2);
  });
});
