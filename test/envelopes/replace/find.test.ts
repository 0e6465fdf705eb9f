import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../../src/api/schemas.ts';
import {
  byPrecedence,
  findListedReplacement,
  findReplacement,
  replacedBy,
  replacementsOf,
} from '../../../src/envelopes/replace/find.ts';
import { draft, memoryService, wrong } from './memory-service.ts';

const at = (id: string, createdAt: string | null, more: Partial<Envelope> = {}): Envelope => ({
  ...draft,
  id,
  createdAt,
  ...more,
});
const older = at('env_2', '2026-01-01T01:00:00Z');
const younger = at('env_1', '2026-01-01T02:00:00Z');

describe('the replacement of an envelope', () => {
  it.each<[string, Envelope[], string | undefined]>([
    ['none', [wrong], undefined],
    ['the older of two drafts', [older, younger], 'env_2'],
    ['the one that was sent', [older, { ...younger, status: 'SENT' }], 'env_1'],
    ['not one that was canceled as a draft', [{ ...older, status: 'CANCELLED' }, younger], 'env_1'],
    [
      'one that was canceled after it was sent',
      [at('env_3', null, { status: 'CANCELLED', sentAt: 'x' })],
      'env_3',
    ],
    ['not that of another envelope', [at('env_3', null, { metadata: { replaces: 'env_x' } })], undefined],
    ['one whose time is unknown', [at('env_3', null)], 'env_3'],
  ])('is %s', async (_, envelopes, id) => {
    const { client } = memoryService(envelopes);
    expect((await findReplacement(client, wrong))?.id).toBe(id);
    expect((await findListedReplacement(client, wrong, { latest: 9 }))?.id).toBe(id);
  });

  it('is read from the service, because lists leave fields out', async () => {
    const service = memoryService([draft]);
    const { get } = service.client.envelopes;
    const read = async (id: string) => ({ ...(await get(id)), message: 'read' });
    Object.assign(service.client.envelopes, { get: read });
    expect(await findReplacement(service.client, wrong)).toMatchObject({ message: 'read' });
    expect(await findListedReplacement(service.client, wrong, { latest: 1 })).toMatchObject({
      message: 'read',
    });
  });

  it('is searched for only after the creation of the old one, and anywhere if that is unknown', async () => {
    for (const [createdAt, since] of [
      [wrong.createdAt, Date.parse(wrong.createdAt ?? '')],
      ['unreadable', 0],
    ] as const) {
      const times: number[] = [];
      const service = memoryService([draft]);
      const { recent } = service.client.envelopes;
      Object.assign(service.client.envelopes, {
        recent: (from: () => number) => {
          times.push(from());
          return recent(from);
        },
      });
      const old = { ...wrong, createdAt };
      await replacementsOf(service.client, old);
      await findListedReplacement(service.client, old, { latest: 9 });
      expect(times).toEqual([since, since]);
    }
  });

  it('is not read again for the old envelope itself', async () => {
    const unmarked: Envelope = { ...wrong, metadata: null };
    const read: string[] = [];
    const service = memoryService([unmarked, { ...wrong, id: 'env_9' }]);
    const { get } = service.client.envelopes;
    Object.assign(service.client.envelopes, {
      get: (id: string) => {
        read.push(id);
        return get(id);
      },
    });
    expect(await replacementsOf(service.client, unmarked)).toEqual([]);
    expect(read).toEqual(['env_9']);
  });

  it('is searched for in as many items of the list as given', async () => {
    const { client } = memoryService([draft, wrong, { ...wrong, id: 'env_9' }]);
    expect(await findListedReplacement(client, wrong, { latest: 2 })).toBeUndefined();
    expect(await findListedReplacement(client, wrong, { latest: 3 })).toMatchObject({ id: 'env_new' });
  });

  it('ends with the signal', async () => {
    const signals: unknown[] = [];
    const service = memoryService([draft]);
    const { recent } = service.client.envelopes;
    Object.assign(service.client.envelopes, {
      recent: (since: () => number, signal?: AbortSignal) => {
        signals.push(signal);
        return recent(since);
      },
    });
    const { signal } = new AbortController();
    await findReplacement(service.client, wrong, { signal });
    await findListedReplacement(service.client, wrong, { latest: 1, signal });
    expect(signals).toEqual([signal, signal]);
  });
});

it.each<[unknown, string | undefined]>([
  ['env_1', 'env_1'],
  ['', undefined],
  [5, undefined],
  [undefined, undefined],
])('reads %j in the metadata as the replaced envelope %s', (replaces, id) => {
  expect(replacedBy({ metadata: { replaces } })).toBe(id);
});

it('orders envelopes by ID if a time is unknown', () => {
  const unknown = at('env_1', null);
  expect(byPrecedence(unknown, older)).toBeLessThan(0);
  expect(byPrecedence(older, unknown)).toBeGreaterThan(0);
});
