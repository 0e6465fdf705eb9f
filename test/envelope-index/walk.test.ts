import { describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import { MAX_LIST_LAG_MS } from '../../src/api/recent-pages.ts';
import type { Envelope } from '../../src/api/schemas.ts';
import { CLOCK_SLACK_MS } from '../../src/api/service-clock.ts';
import { entryOf, type IndexEvent } from '../../src/envelope-index/entry.ts';
import { Snapshot } from '../../src/envelope-index/snapshot.ts';
import { walkNew } from '../../src/envelope-index/walk.ts';
import { writeLine } from '../../src/journal/line.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';

const HOUR = 3_600_000;
const NOW = fakeClock().now();

/** The nth envelope, of which one is created each hour; the latest one an hour ago. */
const made = (n: number, of: number, more: Partial<Envelope> = {}): Envelope => ({
  id: `env_${n}`,
  status: 'CANCELLED',
  createdAt: new Date(NOW - (of - n) * HOUR).toISOString(),
  metadata: {},
  signers: [],
  ...more,
});
const many = (count: number, of = count) => Array.from({ length: count }, (_, n) => made(n, of));

interface List {
  order?: 'newest-first' | 'oldest-first' | 'none';
  /** The total that the service returns; `none` for neither a total nor a number of pages. */
  total?: number | 'none';
  /** Whether it returns the number of pages next to the total. */
  countsPages?: boolean;
  /** What it returns for pages after the last one. */
  after?: 'empty' | 'last';
}

/** Walks the list of a service with these envelopes, from an index that contains `known` and these lines. */
async function walk(
  all: readonly Envelope[],
  known: readonly Envelope[],
  { order = 'newest-first', total = all.length, countsPages = true, after = 'empty' }: List = {},
  lines: readonly IndexEvent[] = [],
) {
  const before = new Snapshot();
  const take = (line: object) => before.take(Buffer.from(writeLine(line).trimEnd()), 0, 1);
  for (const one of known) take(entryOf(one, true, 1));
  for (const line of lines) take(line);
  const sorted = [...all];
  if (order === 'newest-first') sorted.reverse();
  if (order === 'none')
    sorted.sort((a, b) => ((Number(a.id.slice(4)) * 7) % 101) - ((Number(b.id.slice(4)) * 7) % 101));
  const pages: number[] = [];
  const progress: [number, number | undefined][] = [];
  const client = clientFor('http://127.0.0.1:1');
  const page = (number: number) => {
    pages.push(number);
    const last = Math.ceil(sorted.length / 100);
    const at = after === 'last' ? Math.min(number, last) : number;
    const items = sorted.slice((at - 1) * 100, at * 100);
    return Promise.resolve(
      total === 'none'
        ? { items, totalPages: undefined }
        : { items, totalPages: countsPages ? last : undefined, total },
    );
  };
  const fake: Client = { ...client, envelopes: { ...client.envelopes, page } };
  const found = await walkNew(fake, before, {
    onProgress: (done, count) => void progress.push([done, count]),
  });
  return { ...found, pages, progress };
}

/** The line of an index that was complete an hour and a half ago. */
const complete = (extra = 0, upTo = NOW - 1.5 * HOUR): IndexEvent => ({ complete: 1, upTo, extra });
const nothing = { gone: [], unconfirmed: new Set(), upTo: NOW, extra: 0 };

describe('the first walk', () => {
  it.each(['newest-first', 'oldest-first', 'none'] as const)('reads each page once (%s)', async (order) => {
    const found = await walk(many(250), [], { order });
    expect(found).toMatchObject({ ...nothing, pages: [1, 2, 3] });
    expect(found.progress).toEqual([
      [100, 250],
      [200, 250],
      [250, 250],
    ]);
  });

  it('resumes, and stops once it has as many as the service', async () => {
    expect(await walk(many(250), many(150, 250))).toMatchObject({ ...nothing, pages: [1] });
  });

  it.each<['empty' | 'last', number[]]>([
    ['empty', [1, 2, 3, 4]],
    ['last', [1, 2, 3, 4]],
  ])('ends with a page that is %s if the service counts nothing', async (after, pages) => {
    const found = await walk(many(250), [], { total: 'none', after });
    expect(found).toMatchObject({ ...nothing, pages });
    expect(found.progress.at(-1)).toEqual([250, undefined]);
  });

  it('counts what the service counts but does not list, after it has looked again', async () => {
    expect(await walk(many(250), [], { total: 255 })).toMatchObject({ extra: 5, pages: [1, 2, 3, 1, 3] });
    expect(await walk(many(50), [], { total: 52 })).toMatchObject({ extra: 2, pages: [1, 1] });
  });

  it('calculates the number of pages from the total', async () => {
    const list: List = { countsPages: false, total: 255 };
    expect(await walk(many(250), [], list)).toMatchObject({ extra: 5, pages: [1, 2, 3, 1, 3] });
  });

  it('is complete without envelopes', async () => {
    expect(await walk([], [])).toMatchObject({ ...nothing, pages: [1] });
  });
});

describe('a later walk', () => {
  const all = many(380);
  const known = (count: number) => many(count, 380);

  it.each<[string, number, List, number[]]>([
    ['nothing is new', 380, {}, [1]],
    ['one is new', 379, {}, [1]],
    ['two pages are new', 250, {}, [1, 2]],
    ['nothing is new, oldest first', 380, { order: 'oldest-first' }, [1, 4]],
    ['one is new, oldest first', 379, { order: 'oldest-first' }, [1, 4]],
    ['two pages are new, oldest first', 290, { order: 'oldest-first' }, [1, 4, 3]],
    ['three pages are new, oldest first', 190, { order: 'oldest-first' }, [1, 4, 3, 2]],
    ['nothing is new, in no order', 380, { order: 'none' }, [1, 4]],
  ])('reads only the pages it needs if %s', async (_, count, list, pages) => {
    expect(await walk(all, known(count), list, [complete()])).toMatchObject({ ...nothing, pages });
  });

  it('reads a single page once, oldest first', async () => {
    const found = await walk(many(50), many(49, 50), { order: 'oldest-first' }, [complete()]);
    expect(found).toMatchObject({ ...nothing, pages: [1] });
  });

  it('keeps the number of envelopes that are counted but not listed', async () => {
    const list = { total: 385 };
    expect(await walk(all, all, list, [complete(5)])).toMatchObject({ extra: 5, pages: [1] });
    expect(await walk(all, known(379), list, [complete(5)])).toMatchObject({ extra: 5, pages: [1] });
    expect(await walk(all, all, {}, [complete(5)])).toMatchObject({ extra: 0, pages: [1, 2, 3, 4] });
  });

  it('reads everything if fewer are counted, and returns what is gone', async () => {
    const left = all.filter(({ id }) => id !== 'env_7');
    const found = await walk(left, all, {}, [complete()]);
    expect(found).toMatchObject({ ...nothing, gone: ['env_7'], pages: [1, 2, 3, 4] });
  });

  it('confirms neither that a new envelope exists nor that it is gone', async () => {
    const at = (time: number, id: string) => made(0, 0, { id, createdAt: new Date(time).toISOString() });
    const fresh = [
      at(NOW - MAX_LIST_LAG_MS, 'env_old'),
      at(NOW - MAX_LIST_LAG_MS + 1, 'env_new'),
      at(NOW + CLOCK_SLACK_MS, 'env_ahead'),
      at(NOW + CLOCK_SLACK_MS + 1, 'env_future'),
    ];
    const found = await walk(many(50), [...many(50), ...fresh], {}, [complete()]);
    expect(found.gone).toEqual(['env_old', 'env_future']);
    expect([...found.unconfirmed]).toEqual(['env_new', 'env_ahead']);
  });

  it.each<[string, Partial<Envelope>, boolean]>([
    ['another status', { status: 'SENT' }, true],
    ['another creation time', { createdAt: new Date(NOW - 10 * HOUR + 1).toISOString() }, true],
    ['the same fields', {}, false],
  ])('reads everything if an envelope that had ended has %s: %s', async (_, change, isReset) => {
    const list = all.map((one) => (one.id === 'env_370' ? { ...one, ...change } : one));
    const { pages } = await walk(list, all, {}, [complete()]);
    expect(pages).toEqual(isReset ? [1, 2, 3, 4] : [1]);
  });

  it('expects changes of an envelope that a webhook reported, or that can still change', async () => {
    const sent = all.map((one) => (one.id === 'env_370' ? { ...one, status: 'DECLINED' } : one));
    expect((await walk(all, sent, {}, [complete()])).pages).toEqual([1]);
  });

  it.each<[string, number, number[]]>([
    ['within the allowance', CLOCK_SLACK_MS, [1]],
    ['by more', CLOCK_SLACK_MS + 1, [1, 2, 3, 4]],
  ])('reads everything if the clock of the service went back, not %s', async (_, ahead, pages) => {
    expect((await walk(all, all, {}, [complete(0, NOW + ahead)])).pages).toEqual(pages);
  });
});

describe('a later walk of a list without a count', () => {
  const all = many(380);
  const list: List = { total: 'none' };

  it.each<[string, number, number[]]>([
    ['nothing is new', 0.5, [1]],
    ['one is new', 1, [1, 2]],
    ['the first page is new', 100, [1, 2]],
    ['the second page begins with a new one', 101, [1, 2, 3]],
  ])('ends with a page that was known then if %s', async (_, hours, pages) => {
    const since = complete(0, NOW - hours * HOUR);
    expect(await walk(all, all, list, [since])).toMatchObject({ ...nothing, pages });
  });

  it('looks back by the allowance for clocks', async () => {
    const latest = NOW - HOUR;
    const pagesSince = async (upTo: number) => (await walk(all, all, list, [complete(0, upTo)])).pages;
    expect(await pagesSince(latest + CLOCK_SLACK_MS)).toEqual([1, 2]);
    expect(await pagesSince(latest + CLOCK_SLACK_MS + 1)).toEqual([1]);
  });

  it.each<[string, List]>([
    ['is in no order', { order: 'none' }],
    ['has the oldest first', { order: 'oldest-first' }],
  ])('reads everything if the list %s', async (_, more) => {
    const found = await walk(all, many(379), { ...list, ...more }, [complete()]);
    expect(found).toMatchObject({ ...nothing, pages: [1, 2, 3, 4, 5] });
  });

  it('reads everything if an envelope that had ended has changed', async () => {
    const changed = all.map((one) => (one.id === 'env_379' ? { ...one, status: 'SENT' } : one));
    expect((await walk(changed, all, list, [complete()])).pages).toEqual([1, 2, 3, 4, 5]);
  });
});
