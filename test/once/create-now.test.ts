import { describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../src/kernel/errors.ts';
import { REQUEST_ID_KEY } from '../../src/kernel/vocabulary.ts';
import { ProcessMemory } from '../../src/log/write-memory.ts';
import { createNow } from '../../src/once/create-now.ts';
import type { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { json, loseReply } from '../support/server.ts';
import { type ResponseOutcome, seen, serviceOf } from './one-service.ts';

const NOW = fakeClock().now();
const MINUTE = 60_000;
const body = { templateId: 'tmpl_1', signers: [{ email: 'a@b.c', name: 'Ada' }] };
const at = (ms: number) => new Date(ms).toISOString();
const mine = { [REQUEST_ID_KEY]: 'req-1' };

const requests = () => seen().map(({ method, path }) => `${method} ${path.replace('/api/v1/esign', '')}`);

/** Responses to creates are lost; the list and the single envelopes are these. */
function losing(items: readonly { id: string }[], full: readonly { id: string }[] = items): ResponseOutcome {
  return ({ method, path, query }, response) => {
    if (method === 'POST') return loseReply(response);
    const id = /envelopes\/(.+)$/.exec(path)?.[1];
    if (id !== undefined) return json(response, 200, { data: full.find((one) => one.id === id) });
    const [page, size] = [Number(query.get('page')), Number(query.get('pageSize'))];
    const totalPages = Math.ceil(items.length / size);
    json(response, 200, {
      data: items.slice((page - 1) * size, page * size),
      meta: { pagination: { totalPages } },
    });
  };
}

describe('a create without a given request ID', () => {
  const settle = async (client: ReturnType<typeof clientFor>, signal?: AbortSignal) => {
    const options = { memory: new ProcessMemory(), signal };
    try {
      const { envelope, by } = await createNow(client, { ...body, metadata: mine }, options);
      return { kind: 'settled', by, value: envelope };
    } catch (error) {
      if (!(error instanceof UnknownOutcomeError)) throw error;
      return { kind: 'unknown', error: error.cause, message: error.message };
    }
  };

  it('is not searched for if it was refused', async () => {
    const { client } = await serviceOf((_, response) =>
      json(response, 400, { error: { code: 'VALIDATION_ERROR' } }),
    );
    await expect(settle(client)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(seen()).toHaveLength(1);
  });

  it('is also searched for if the response is not an envelope', async () => {
    const { client } = await serviceOf((request, response, number) => {
      if (request.method === 'POST') return json(response, 201, { data: { id: '' } });
      return losing([{ id: 'env_1', ...{ templateId: 'tmpl_1', metadata: mine, createdAt: at(NOW) } }])(
        request,
        response,
        number,
      );
    });
    expect(await settle(client)).toMatchObject({ kind: 'settled', by: 'lookup', value: { id: 'env_1' } });
    expect(requests().filter((one) => one.startsWith('POST'))).toHaveLength(1);
  });

  it('is searched for immediately, and only until it is found', async () => {
    const { client, clock } = await serviceOf(losing([{ id: 'env_1', ...{ metadata: mine } }]));
    expect(await settle(client)).toMatchObject({ kind: 'settled', by: 'lookup' });
    expect(requests()).toEqual(['POST /envelopes', 'GET /envelopes', 'GET /envelopes/env_1']);
    expect(clock.slept).toEqual([]);
  });

  it('is searched for again if the search fails', async () => {
    const found = losing([{ id: 'env_1', ...{ metadata: mine } }]);
    const { client } = await serviceOf((request, response, number) =>
      number < 4 ? loseReply(response) : found(request, response, number),
    );
    expect(await settle(client)).toMatchObject({ kind: 'settled', by: 'lookup', value: { id: 'env_1' } });
    expect(seen()).toHaveLength(5);
  });

  it('stays unknown if every search fails', async () => {
    const { client } = await serviceOf((_, response) => loseReply(response));
    expect(await settle(client, new AbortController().signal)).toMatchObject({
      kind: 'unknown',
      // The message has the error of the create, and that of the search.
      message: expect.stringMatching(/127\.0\.0\.1.*127\.0\.0\.1/) as unknown,
    });
    expect(seen()).toHaveLength(8);
  });

  it.each([2, 4])('stops if the caller aborts during the search, at request %i', async (last) => {
    const controller = new AbortController();
    const { client } = await serviceOf((_, response, number) => {
      if (number === last) controller.abort(new Error('enough'));
      loseReply(response);
    });
    await expect(settle(client, controller.signal)).rejects.toThrow('enough');
    expect(seen()).toHaveLength(last);
  });

  it('is found within a minute if the clock is set back by hours meanwhile', async () => {
    const lagging: ResponseOutcome = (request, response, number) => {
      if (number === 1) clock.time -= 180 * MINUTE;
      response.setHeader('date', new Date(NOW).toUTCString());
      const isListed = clock.slept.length > 2;
      const item = { id: 'env_1', createdAt: at(NOW), metadata: mine };
      return losing(isListed ? [item] : [])(request, response, number);
    };
    const { client, clock } = await serviceOf(lagging);
    expect(await settle(client)).toMatchObject({ kind: 'settled', by: 'lookup' });
    const without = await serviceOf((request, response, number) => {
      if (number === 1) without.clock.time -= 180 * MINUTE;
      return losing([])(request, response, number);
    });
    expect(await settle(without.client)).toMatchObject({ kind: 'unknown' });
    expect(without.clock.slept.reduce((sum, ms) => sum + ms, 0)).toBe(MINUTE);
  });

  it('is found if the clocks differ by minutes, without reading a long list to its end', async () => {
    const many = Array.from({ length: 1_000 }, (_, i) => ({
      id: `env_${i}`,
      templateId: 'tmpl_1',
      createdAt: at(NOW - 5 * MINUTE - i * 6_000),
      metadata: i === 20 ? mine : {},
    }));
    const { client } = await serviceOf(losing(many));
    expect(await settle(client)).toMatchObject({ kind: 'settled', value: { id: 'env_20' } });
    const without = await serviceOf(losing(many.map((one) => ({ ...one, metadata: {} }))));
    expect(await settle(without.client)).toMatchObject({ kind: 'unknown' });
    // Seven searches of the two pages that are young enough, each reading page 1 again.
    expect(requests().filter((one) => one === 'GET /envelopes')).toHaveLength(21);
  });

  it('is never matched with an envelope that existed long before', async () => {
    const old = Array.from({ length: 12 }, (_, i) => ({
      id: `env_${i}`,
      templateId: 'tmpl_1',
      createdAt: at(NOW - 11 * MINUTE - i),
      metadata: mine,
    }));
    const { client } = await serviceOf(losing(old));
    expect(await settle(client)).toMatchObject({ kind: 'unknown' });
  });
});
