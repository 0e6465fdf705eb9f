import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import type { Envelope } from '../../src/api/resource-types.ts';
import { markedEnvelopes, recentItems, sortOrderOf } from '../../src/catalog/envelope-list.ts';
import { findByRequestId } from '../../src/catalog/find-by-request-id.ts';
import { requestIdOf } from '../../src/catalog/markers.ts';
import { collectAll } from '../../src/kernel/streams.ts';
import { clientInMemory, type MemoryRequest } from '../support/client.ts';
import type { ServiceResponse } from '../support/faulty-service.ts';

/* What a walk of the list finds, compared with a service whose list changes in every way that the API document allows. */

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

interface World {
  order: 'newest-first' | 'oldest-first' | 'none';
  /** What the items show of their metadata. */
  metadata: 'shown' | 'null' | 'empty' | 'missing';
  counts: boolean;
  count: number;
  /** Before each page, a number of envelopes is deleted, from this place on, or created. */
  changes: readonly { delete: number; at: number; create: number }[];
  /** The walk is for envelopes that were created since this one. */
  since: number;
}

const WORLDS: fc.Arbitrary<World> = fc.record({
  order: fc.constantFrom('newest-first', 'oldest-first', 'none'),
  metadata: fc.constantFrom('shown', 'null', 'empty', 'missing'),
  counts: fc.boolean(),
  count: fc.oneof(fc.nat(120), fc.integer({ min: 120, max: 330 })),
  changes: fc.oneof(
    fc.constant([]),
    // A list that shrinks and grows between two pages looks as if nothing had moved.
    fc.array(fc.record({ delete: fc.nat(40), at: fc.nat(330), create: fc.constant(0) }), { maxLength: 5 }),
    fc.array(fc.record({ delete: fc.constant(0), at: fc.constant(0), create: fc.nat(40) }), { maxLength: 5 }),
  ),
  since: fc.nat(330),
});

const scrambled = (n: number) => (n * 7_919) % 104_729;
const numberOf = ({ id }: Envelope) => Number(id.slice(4));

function ordered(envelopes: readonly Envelope[], order: World['order']): Envelope[] {
  if (order === 'newest-first') return envelopes.toReversed();
  if (order === 'oldest-first') return [...envelopes];
  return envelopes.toSorted((a, b) => scrambled(numberOf(a)) - scrambled(numberOf(b)));
}

/** A service in memory. Every third envelope has a request ID. */
function serve(world: World) {
  const make = (n: number): Envelope => ({
    id: `env_${n}`,
    status: 'SENT',
    createdAt: new Date(START + n * MINUTE).toISOString(),
    metadata: n % 3 === 0 ? { esignRequestId: `request-${n}` } : { deal: n },
  });
  let all = Array.from({ length: world.count }, (_, n) => make(n));
  let made = world.count;
  const changes = [...world.changes];
  const item = (one: Envelope) => {
    const { metadata: _, ...rest } = one;
    const shown = {
      shown: one,
      null: { ...rest, metadata: null },
      empty: { ...rest, metadata: {} },
      missing: rest,
    };
    return shown[world.metadata];
  };
  const seen: string[] = [];
  const answer = ({ path, query }: MemoryRequest): ServiceResponse => {
    seen.push(path);
    const headers = { date: new Date(START + made * MINUTE).toUTCString() };
    const id = /env_\d+$/.exec(path)?.[0];
    if (id !== undefined) {
      const data = all.find((one) => one.id === id);
      return data
        ? { status: 200, body: { data }, headers }
        : { status: 404, body: { error: { code: 'NOT_FOUND', message: 'gone' } }, headers };
    }
    const change = changes.shift() ?? { delete: 0, at: 0, create: 0 };
    all = all.filter((_, index) => index < change.at || index >= change.at + change.delete);
    for (let n = 0; n < change.create; n++) all.push(make(made++));
    const listed = ordered(all, world.order);
    const page = Number(query.get('page'));
    const total = listed.length;
    const meta = world.counts
      ? { meta: { pagination: { page, total, totalPages: Math.ceil(total / 100) } } }
      : {};
    const data = listed.slice((page - 1) * 100, page * 100).map(item);
    return { status: 200, body: { data, ...meta }, headers };
  };
  return { seen, client: clientInMemory(answer), all: () => all };
}

/** Runs a walk in a world. Returns the IDs that it yielded, and those that were in the list from its beginning to its end. */
async function walked(
  world: World,
  walk: (client: Client) => AsyncIterable<Envelope>,
  isWanted: (envelope: Envelope) => boolean,
) {
  const service = serve(world);
  const before = service.all();
  const found: string[] = [];
  for await (const { id } of walk(service.client)) found.push(id);
  const kept = new Set(service.all());
  const certain = before.filter((one) => kept.has(one) && isWanted(one)).map(({ id }) => id);
  return { found, certain, requests: service.seen.length };
}

describe('a walk of the list', () => {
  it('finds every marked envelope that stays in the list, each once', async () => {
    const property = fc.asyncProperty(WORLDS, async (world) => {
      // Without a count, nothing shows that items have moved to an earlier page.
      fc.pre(world.counts || world.changes.every((one) => one.delete === 0));
      const isMarked = (one: Envelope) => requestIdOf(one) !== undefined;
      const { found, certain } = await walked(world, (client) => markedEnvelopes(client), isMarked);
      expect(new Set(found).size).toBe(found.length);
      expect(found).toEqual(expect.arrayContaining(certain));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('finds every marked envelope that was created since a time, whatever the order', async () => {
    const property = fc.asyncProperty(WORLDS, async (world) => {
      fc.pre(world.counts || world.changes.every((one) => one.delete === 0));
      const since = () => START + world.since * MINUTE;
      const isWanted = (one: Envelope) => requestIdOf(one) !== undefined && numberOf(one) >= world.since;
      const { found, certain } = await walked(
        world,
        (client) => markedEnvelopes(client, { since }),
        isWanted,
      );
      expect(new Set(found).size).toBe(found.length);
      expect(found).toEqual(expect.arrayContaining(certain));
      for (const id of found) expect(numberOf({ id })).toBeGreaterThanOrEqual(world.since);
    });
    const nothing = { delete: 0, at: 0, create: 0 };
    // Items move to the second page after it was read.
    const moved = { order: 'newest-first', metadata: 'shown', counts: true, count: 330, since: 0 } as const;
    const changes = [nothing, nothing, { delete: 5, at: 325, create: 0 }];
    // Added items move the oldest ones to a page that the first response didn't count.
    const added = { ...moved, count: 130 };
    const creates = [40, 31].map((create) => ({ ...nothing, create }));
    const examples: [World][] = [[{ ...moved, changes }], [{ ...added, changes: creates }]];
    await fc.assert(property, { numRuns: 60, examples });
  });

  it.each(['newest-first', 'oldest-first'] as const)('reads few pages of a long list, %s', async (order) => {
    const world: World = { order, metadata: 'shown', counts: true, count: 330, changes: [], since: 300 };
    const since = () => START + 300 * MINUTE;
    const { found, requests } = await walked(
      world,
      (client) => recentItems(client, since),
      () => true,
    );
    expect(found).toHaveLength(30);
    expect(requests).toBeLessThanOrEqual(4);
  });

  it.each(['newest-first', 'oldest-first'] as const)(
    'fails if the service counts pages without end, because the list proves nothing then, %s',
    async (order) => {
      const times = Array.from({ length: 20 }, (_, n) => START + n * MINUTE);
      if (order === 'newest-first') times.reverse();
      const data = times.map((time) => ({ id: `env_${time}`, createdAt: new Date(time).toISOString() }));
      const body = { data, meta: { pagination: { total: 1e9, totalPages: 1e7 } } };
      let requests = 0;
      const client = clientInMemory(() => {
        requests++;
        return { status: 200, body, headers: {} };
      });
      const all = collectAll(recentItems(client, () => START));
      await expect(all).rejects.toMatchObject({ code: 'BAD_RESPONSE' });
      expect(requests).toBeLessThan(30);
    },
  );

  it('reads no envelope a second time', async () => {
    const world: World = {
      order: 'none',
      metadata: 'missing',
      counts: true,
      count: 30,
      changes: [],
      since: 0,
    };
    const service = serve(world);
    const known = new Set<string>();
    expect(await findByRequestId(service.client, 'request-100', { known })).toBeUndefined();
    const before = service.seen.length;
    expect((await findByRequestId(service.client, 'request-6', { known }))?.id).toBe('env_6');
    // Those with other markers can't be known: only those without any.
    const reads = service.seen.slice(before).filter((path) => path.includes('env_'));
    expect(reads.map((path) => Number(path.split('_')[1]) % 3).every((rest) => rest === 0)).toBe(true);
  });
});

it('the order of a list is unknown unless its first page shows it', () => {
  const at = (minutes: number[]) =>
    minutes.map((n) => ({ createdAt: new Date(START + n * MINUTE).toISOString() }));
  const ten = Array.from({ length: 10 }, (_, n) => n);
  expect(sortOrderOf(at(ten))).toBe('oldest-first');
  expect(sortOrderOf(at(ten.toReversed()))).toBe('newest-first');
  expect(sortOrderOf(at(ten.slice(1)))).toBe('unknown');
  expect(sortOrderOf(at([...ten, 3]))).toBe('unknown');
  expect(sortOrderOf(at(ten.map(() => 0)))).toBe('unknown');
  expect(sortOrderOf([...at(ten), {}])).toBe('unknown');
});
