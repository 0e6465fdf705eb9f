import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBody, type EnvelopeInput } from '../../src/envelopes/create.ts';
import { createEnvelope } from '../../src/envelopes/create-once.ts';
import { requestIdsInMemory } from '../../src/envelopes/request-ids/request-ids.ts';
import { UnknownOutcomeError, UsageError } from '../../src/kernel/errors.ts';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { REQUEST_ID_KEY } from '../../src/kernel/vocabulary.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { json, loseReply, type SeenRequest, startServer, type TestServer } from '../support/server.ts';

const wanted: EnvelopeInput = {
  templateId: 'tmpl_1',
  signers: [{ email: 'a@b.c', name: 'Ada' }],
  metadata: { deal: '4711' },
};
const time = { clock: fakeClock(), serviceClock: fakeClock() };
/** A separate state folder for each test. */
let tests = 0;
const freshIds = () => requestIdsInMemory({ account: `account-${tests++}`, ...time });
const options = { rerun: false, ids: freshIds() };
beforeEach(() => {
  options.ids = freshIds();
});

const body = createBody(wanted, 'req-1');

interface StoredEnvelope {
  id: string;
  templateId: string;
  status: string;
  createdAt: string;
  metadata: unknown;
}

/** A service whose responses to creates may be lost after processing. */
async function service(behavior: {
  lose?: (create: number) => boolean;
  fail?: (create: number) => boolean;
  listed?: (list: number) => boolean;
  summary?: boolean;
}) {
  const stored: StoredEnvelope[] = [];
  const counts = { creates: 0, lists: 0 };
  const create = (request: SeenRequest) => {
    const body = parseJson(request.body);
    if (!isRecord(body)) throw new Error('no body');
    const envelope = {
      id: `env_${stored.length + 1}`,
      templateId: String(body.templateId),
      status: body.sendImmediately === true ? 'SENT' : 'DRAFT',
      createdAt: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)).toISOString(),
      metadata: body.metadata,
    };
    stored.push(envelope);
    return envelope;
  };
  const answerCreate = (request: SeenRequest, response: ServerResponse) => {
    const number = ++counts.creates;
    if (behavior.fail?.(number))
      return json(response, 503, { error: { code: 'INTERNAL_ERROR', message: 'down' } });
    const envelope = create(request);
    return behavior.lose?.(number) ? loseReply(response) : json(response, 201, { data: envelope });
  };
  server = await startServer((request, response) => {
    const [, id, action] = /^\/api\/v1\/esign\/envelopes(?:\/([^/]+))?(?:\/(\w+))?$/.exec(request.path) ?? [];
    if (request.method === 'POST' && id === undefined) return answerCreate(request, response);
    const found = stored.find((one) => one.id === id);
    if (found && action === 'send') {
      found.status = 'SENT';
      return json(response, 200, { data: found });
    }
    if (found) return json(response, 200, { data: found });
    const shown = behavior.listed?.(++counts.lists) === false ? [] : stored;
    const items = shown.map((one) => (behavior.summary ? { id: one.id, status: one.status } : one));
    json(response, 200, {
      data: items,
      meta: { pagination: { page: 1, pageSize: 100, total: items.length, totalPages: 1 } },
    });
  });
  return { stored, counts, client: clientFor(server.origin) };
}

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

describe('creating an envelope', () => {
  it("adds the request ID to the user's metadata", () => {
    expect(createBody(wanted, 'req-1').metadata).toEqual({ deal: '4711', [REQUEST_ID_KEY]: 'req-1' });
  });

  it('refuses a webhook secret that is too short or has no URL, before anything is sent', () => {
    expect(() => createBody({ ...wanted, webhookUrl: 'https://x', webhookSecret: 'short' }, 'r')).toThrow(
      UsageError,
    );
    expect(() => createBody({ ...wanted, webhookSecret: 'long enough, really' }, 'r')).toThrow(
      'requires a webhook URL',
    );
  });

  it('takes one request if nothing fails', async () => {
    const { client, stored, counts } = await service({});
    expect(await createEnvelope(client, body, options)).toMatchObject({
      by: 'reply',
      envelope: { id: 'env_1' },
    });
    expect([stored.length, counts.lists]).toEqual([1, 0]);
  });

  it('finds the envelope after a lost response, and never creates a second', async () => {
    const { client, stored } = await service({ lose: () => true });
    expect(await createEnvelope(client, body, options)).toMatchObject({
      by: 'lookup',
      envelope: { id: 'env_1' },
    });
    expect(stored).toHaveLength(1);
  });

  it('finds it if list items have no metadata, and if the list lags', async () => {
    const { client, stored } = await service({ lose: () => true, summary: true, listed: (n) => n > 1 });
    expect(await createEnvelope(client, body, options)).toMatchObject({
      by: 'lookup',
      envelope: { id: 'env_1' },
    });
    expect(stored).toHaveLength(1);
  });

  it('reports an unknown outcome if nothing is found, and how to continue', async () => {
    const { client, counts } = await service({ fail: () => true });
    const error: unknown = await createEnvelope(client, body, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({ hint: expect.stringContaining('--request-id req-1') as unknown });
    expect(counts.creates).toBe(1);
  });

  it('returns the existing envelope on a rerun with the same request ID', async () => {
    const { client, stored } = await service({});
    await createEnvelope(client, body, options);
    expect(await createEnvelope(client, body, { ...options, rerun: true })).toMatchObject({
      by: 'earlier',
      envelope: { id: 'env_1' },
    });
    expect(stored).toHaveLength(1);
  });

  it('sends the draft of an earlier run on a rerun with --send', async () => {
    const { client, stored } = await service({});
    await createEnvelope(client, body, options);
    const again = await createEnvelope(client, createBody({ ...wanted, send: true }, 'req-1'), {
      ...options,
      rerun: true,
    });
    expect(again).toMatchObject({ by: 'earlier', envelope: { status: 'SENT' } });
    expect(stored).toHaveLength(1);
  });

  it('creates one envelope per call when every fifth response is lost', async () => {
    const { client, stored } = await service({ lose: (n) => n % 5 === 0 });
    const calls = Number(process.env.CREATE_CALLS ?? 200);
    for (let i = 0; i < calls; i++) await createEnvelope(client, createBody(wanted, `req-${i}`), options);
    const ids = stored.map((one) => (isRecord(one.metadata) ? one.metadata[REQUEST_ID_KEY] : undefined));
    expect(stored).toHaveLength(calls);
    expect(new Set(ids).size).toBe(calls);
  }, 60_000);
});
