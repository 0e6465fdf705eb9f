import { afterEach, describe, expect, it } from 'vitest';
import { findByRequestId } from '../../src/catalog/find-by-request-id.ts';
import { createEnvelope } from '../../src/envelopes/create-once.ts';
import { actWithOutcome, sendEnvelope } from '../../src/once/write-outcome.ts';
import { UnknownOutcomeError } from '../../src/kernel/errors.ts';
import { REQUEST_ID_KEY } from '../../src/kernel/vocabulary.ts';
import { ProcessMemory } from '../../src/log/write-memory.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { json, loseReply, startServer, type TestServer } from '../support/server.ts';

const NOW = fakeClock().now();
const MINUTE = 60_000;
const body = { templateId: 'tmpl_1', signers: [{ email: 'a@b.c', name: 'Ada' }] };
const at = (ms: number) => new Date(ms).toISOString();
const mine = { [REQUEST_ID_KEY]: 'req-1' };

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

type ResponseOutcome = Parameters<typeof startServer>[0];

/** A client without retries, so that every request is part of resolving the outcome. */
async function serviceOf(answer: ResponseOutcome) {
  await server?.close();
  server = await startServer(answer);
  const clock = fakeClock();
  return { clock, client: clientFor(server.origin, { retries: 0, clock }) };
}

const requests = () =>
  server?.seen.map(({ method, path }) => `${method} ${path.replace('/api/v1/esign', '')}`);

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

describe('a create', () => {
  const settle = async (client: ReturnType<typeof clientFor>, signal?: AbortSignal) => {
    const options = { memory: new ProcessMemory(), rerun: false, signal };
    try {
      const { envelope, by } = await createEnvelope(client, { ...body, metadata: mine }, options);
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
    expect(server?.seen).toHaveLength(1);
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
    expect(requests()?.filter((one) => one.startsWith('POST'))).toHaveLength(1);
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
    expect(server?.seen).toHaveLength(5);
  });

  it('stays unknown if every search fails', async () => {
    const { client } = await serviceOf((_, response) => loseReply(response));
    expect(await settle(client, new AbortController().signal)).toMatchObject({
      kind: 'unknown',
      // The message has the error of the create, and that of the search.
      message: expect.stringMatching(/127\.0\.0\.1.*127\.0\.0\.1/) as unknown,
    });
    expect(server?.seen).toHaveLength(8);
  });

  it.each([2, 4])('stops if the caller aborts during the search, at request %i', async (last) => {
    const controller = new AbortController();
    const { client } = await serviceOf((_, response, number) => {
      if (number === last) controller.abort(new Error('enough'));
      loseReply(response);
    });
    await expect(settle(client, controller.signal)).rejects.toThrow('enough');
    expect(server?.seen).toHaveLength(last);
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
    await server?.close();
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
    await server?.close();
    const without = await serviceOf(losing(many.map((one) => ({ ...one, metadata: {} }))));
    expect(await settle(without.client)).toMatchObject({ kind: 'unknown' });
    // Seven searches of the two pages that are young enough, each reading page 1 again.
    expect(requests()?.filter((one) => one === 'GET /envelopes')).toHaveLength(21);
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

describe('the envelope of a request ID', () => {
  it('is found at any age, and with any spelling of the key', async () => {
    const old = Array.from({ length: 250 }, (_, i) => ({
      id: `env_${i}`,
      createdAt: at(NOW - i * 86_400_000),
      metadata: i === 240 ? { esignrequestid: 'req-1' } : {},
    }));
    const { client } = await serviceOf(losing(old));
    expect(await findByRequestId(client, 'req-1')).toMatchObject({ id: 'env_240' });
  });
});

describe('an action', () => {
  const DRAFT = { id: 'env_1', status: 'DRAFT' };
  const SENT = { id: 'env_1', status: 'SENT' };

  /** Sends env_1 with the given responses to its tries and to the reads of its state, in turn. */
  async function send(
    tries: ((response: Parameters<ResponseOutcome>[1]) => void)[],
    states: readonly unknown[],
  ) {
    let [acts, reads] = [0, 0];
    const { client, clock } = await serviceOf(({ method }, response) => {
      if (method === 'POST') return tries[acts++]?.(response);
      const state = states[reads++];
      return state === undefined ? loseReply(response) : json(response, 200, { data: state });
    });
    const outcome = await actWithOutcome(
      client,
      'env_1',
      () => client.envelopes.send('env_1'),
      ({ status }) => status === 'SENT',
    ).catch((error: unknown) => ({ thrown: error }));
    return { outcome, acts, reads, slept: clock.slept };
  }
  const refuse =
    (code: string, status = 400) =>
    (response: Parameters<ResponseOutcome>[1]) =>
      json(response, status, { error: { code, message: 'no' } });

  it('is resolved by the response, or by reading if the response has no status', async () => {
    expect(await send([(response) => json(response, 200, { data: SENT })], [])).toMatchObject({
      outcome: { kind: 'settled', by: 'reply', value: SENT },
      reads: 0,
    });
    expect(await send([(response) => void response.writeHead(204).end()], [SENT])).toMatchObject({
      outcome: { kind: 'settled', by: 'reply', value: SENT },
    });
  });

  it('is refused if it is refused immediately, even if somebody else did it before', async () => {
    for (const [code, status] of [
      ['INVALID_STATE', 400],
      ['FORBIDDEN', 403],
    ] as const) {
      const done = await send([refuse(code, status)], [SENT]);
      expect(done).toMatchObject({ outcome: { thrown: { code } }, acts: 1, reads: 0 });
      await server?.close();
    }
  });

  it('is retried with growing delays while the status shows that nothing happened', async () => {
    const done = await send([loseReply, loseReply, loseReply], [DRAFT, DRAFT, DRAFT, DRAFT]);
    expect(done).toMatchObject({ outcome: { kind: 'unknown' }, acts: 3, reads: 3 });
    expect(done.outcome).toHaveProperty('error.name', 'NetworkError');
    expect(done.slept).toEqual([1_000, 1_500]);
  });

  it("is not retried if the state can't be read", async () => {
    expect(await send([loseReply, loseReply], [])).toMatchObject({
      outcome: { kind: 'unknown' },
      acts: 1,
      reads: 1,
      slept: [],
    });
  });

  it('is resolved by the previous try if the next is refused because of the state', async () => {
    expect(await send([loseReply, refuse('INVALID_STATE')], [DRAFT, SENT])).toMatchObject({
      outcome: { kind: 'settled', by: 'lookup', value: SENT },
      acts: 2,
    });
  });

  it.each([
    ['for another reason', 'FORBIDDEN', [DRAFT, SENT], 1],
    ['because of a state that it did not cause', 'INVALID_STATE', [DRAFT, DRAFT], 2],
    ["and the state can't be read", 'INVALID_STATE', [DRAFT], 2],
  ])('fails if the next try is refused %s', async (_, code, states, reads) => {
    const done = await send([loseReply, refuse(code), loseReply], states);
    expect(done).toMatchObject({ outcome: { thrown: { code } }, acts: 2, reads });
  });

  it('is not done if the response to a send was lost and the draft was canceled meanwhile', async () => {
    const canceled = { id: 'env_1', status: 'CANCELLED', sentAt: null };
    const { client } = await serviceOf(({ method }, response) =>
      method === 'GET'
        ? json(response, 200, { data: canceled })
        : server?.seen.length === 1
          ? loseReply(response)
          : refuse('INVALID_STATE')(response),
    );
    await expect(sendEnvelope(client, 'env_1')).rejects.toMatchObject({ code: 'INVALID_STATE' });
  });
});
