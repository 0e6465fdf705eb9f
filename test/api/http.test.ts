import type { ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Client, ClientOptions } from '../../src/api/client.ts';
import type { TraceEntry } from '../../src/api/http.ts';
import { BadResponseError, ServiceError } from '../../src/kernel/errors.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { json, loseReply, startServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;

type Answer = Parameters<typeof startServer>[0];

/** A client of a service with these responses. */
async function clientOf(answer: Answer, options: Partial<ClientOptions> = {}): Promise<Client> {
  server = await startServer(answer);
  return clientFor(server.origin, { retries: 0, ...options });
}

/** Returns the error of a read from a service with this response. */
async function failure(answer: (response: ServerResponse) => void, options: Partial<ClientOptions> = {}) {
  const client = await clientOf((_, response) => answer(response), options);
  return client.envelopes.get('env_1').catch((error: unknown) => error);
}

const reply =
  (status: number, body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);

describe('a request', () => {
  it('sends the key as a bearer token and the body as JSON', async () => {
    const { envelopes } = await clientOf((_, response) => json(response, 201, { data: { id: 'env_1' } }));
    const body = { templateId: 't', signers: [{ email: 'a@b.c', name: 'A' }] };
    await envelopes.create(body);
    expect(server?.seen[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/esign/envelopes',
      headers: { authorization: 'Bearer sk_test_0123456789', 'content-type': 'application/json' },
    });
    expect(JSON.parse(server?.seen[0]?.body ?? '')).toEqual(body);
  });

  it('encodes IDs, so that an ID never becomes a path', async () => {
    const { envelopes } = await clientOf((_, response) => json(response, 200, { data: { id: 'x' } }));
    await envelopes.get('../keys?x=1#y');
    expect(server?.seen[0]?.path).toBe('/api/v1/esign/envelopes/..%2Fkeys%3Fx%3D1%23y');
  });

  it('has a body only if there is something to send', async () => {
    const { envelopes } = await clientOf((_, response) => json(response, 200, { data: { id: 'env_1' } }));
    await envelopes.send('env_1');
    await envelopes.cancel('env_1', '');
    await envelopes.remind('env_1', 'signer_1');
    expect(server?.seen.map(({ path, body }) => `${path.split('/').at(-1)} ${body}`)).toEqual([
      'send ',
      'cancel {"reason":""}',
      'remind {"signerId":"signer_1"}',
    ]);
  });

  it('that changes something is refused in read-only mode', async () => {
    const { envelopes } = await clientOf((_, response) => json(response, 200, { data: { id: 'x' } }), {
      readsOnly: true,
    });
    await envelopes.get('env_1');
    await expect(envelopes.send('env_1')).rejects.toMatchObject({ code: 'USAGE' });
    expect(server?.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  it('ends immediately when the caller aborts', async () => {
    const controller = new AbortController();
    const { envelopes } = await clientOf(() => controller.abort(new Error('enough')));
    await expect(envelopes.get('x', controller.signal)).rejects.toThrow('enough');
    await expect(envelopes.get('x', controller.signal)).rejects.toThrow('enough');
    expect(server?.seen).toHaveLength(1);
  });

  it('is traced with its response, rate limit, and duration', async () => {
    const clock = fakeClock();
    const entries: TraceEntry[] = [];
    const headers = { 'X-RateLimit-Limit': '100', 'X-RateLimit-Remaining': '99' };
    const { send } = await clientOf(
      (_, response) => {
        clock.time += 40;
        json(response, 201, { data: { id: 'env_1' } }, headers);
      },
      { clock, trace: (entry) => entries.push(entry) },
    );
    await send({ method: 'POST', path: '/x', query: { a: '1 & 2' }, body: { a: 1 } });
    expect(entries).toMatchObject([
      {
        method: 'POST',
        url: `${server?.origin}/api/v1/x?a=1+%26+2`,
        status: 201,
        ms: 40,
        rate: { limit: 100, remaining: 99 },
        requestBody: '{"a":1}',
        responseBody: '{"data":{"id":"env_1"}}',
        error: undefined,
      },
    ]);
  });
});

describe('a response', () => {
  it('is returned as received: unknown fields, null and unknown values, and the order of fields', async () => {
    const odd = { zebra: 1, id: 'x', status: 'FROZEN', signers: null, sentAt: null, new: { deep: [1] } };
    const { envelopes } = await clientOf((_, response) => json(response, 200, { data: odd, more: true }));
    expect(JSON.stringify(await envelopes.get('x'))).toBe(JSON.stringify(odd));
  });

  it('to an action may have any body, or none', async () => {
    const bodies = [
      '{"data":{"id":"env_1"}}',
      '{"data":{"success":true}}',
      '{"success":true}',
      '',
      '{"data":{"id":"other"}}',
    ];
    const { envelopes } = await clientOf(
      (_, response, n) => void response.writeHead(n === 4 ? 204 : 200).end(bodies[n - 1]),
    );
    expect(await envelopes.send('env_1')).toMatchObject({ id: 'env_1' });
    for (let i = 1; i < bodies.length; i++) expect(await envelopes.send('env_1')).toBeUndefined();
  });

  it.each([
    [401, 'UNAUTHORIZED'],
    [403, 'QUOTA_EXCEEDED'],
    [400, 'INVALID_STATE'],
    [418, 'A_CODE_NOBODY_KNOWS'],
    [200, 'QUOTA_EXCEEDED'],
  ])('with an error body and status %i is a ServiceError', async (status, code) => {
    const error = await failure(reply(status, JSON.stringify({ error: { code, message: 'because' } })));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code, status, message: 'because' });
  });

  it('keeps the details of a validation error, even if a message is not in a list', async () => {
    const details = { signers: ['At least one'], 'signers.0.email': 'bad', odd: [{ a: 1 }] };
    const error = await failure(
      reply(400, JSON.stringify({ error: { code: 'VALIDATION_ERROR', message: 'm', details } })),
    );
    expect(error).toMatchObject({
      details: { signers: ['At least one'], 'signers.0.email': ['bad'], odd: ['{"a":1}'] },
    });
  });

  it.each([
    [429, 'RATE_LIMITED'],
    [401, 'UNAUTHORIZED'],
  ])('of a gateway with status %i means the same as one of the service', async (status, code) => {
    expect(await failure(reply(status, '<h1>No', { 'retry-after': '7' }))).toMatchObject({ code, status });
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['gzip, br', (text: string) => brotliCompressSync(gzipSync(text))],
    ['GZIP', (text: string) => text],
    ['identity', (text: string) => text],
  ])('is read if a gateway compresses it without being asked: %s', async (encoding, compress) => {
    const body = compress(JSON.stringify({ data: { id: 'env_1', status: 'SENT' } }));
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    const client = await clientOf((_, response) => void response.writeHead(200, headers).end(body));
    expect(await client.envelopes.get('env_1')).toMatchObject({ id: 'env_1', status: 'SENT' });
  });

  it.each([
    ['zstd', Buffer.from('28b52ffd', 'hex')],
    ['gzip', gzipSync('{"data":{"id":"env_1"}}').subarray(0, 20)],
  ])('names an encoding that can not be read: %s', async (encoding, body) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    const error = await failure((response) => void response.writeHead(200, headers).end(body));
    expect(error).toBeInstanceOf(BadResponseError);
    expect(error).toMatchObject({ message: expect.stringContaining(`json, ${encoding}, `) as unknown });
  });

  it('is not decompressed beyond the limit', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024));
    const error = await failure((response) => void response.writeHead(200, headers).end(bomb));
    expect(error).toMatchObject({ message: expect.stringContaining('larger than 64 MiB') as unknown });
  });

  it.each([
    ['a login page', 200, '<html>Sign in</html>'],
    ['an empty resource', 200, ''],
    ['JSON that is not a resource', 200, '{"ok":true}'],
    ['a list as an envelope', 200, '{"data":[]}'],
    ['an envelope without an ID', 200, '{"data":{"status":"SENT"}}'],
    ['an envelope with an empty ID', 200, '{"data":{"id":""}}'],
    ['an envelope with an invalid signer', 200, '{"data":{"id":"x","signers":[{"email":7}]}}'],
    ['cut JSON', 200, '{"data":{"id":"env'],
    ['a 404 page of another server', 404, 'not here'],
    ["another API's JSON errors", 400, '{"message":"nope"}'],
    ['a gateway', 502, 'Bad Gateway'],
  ])('that is not from the API is refused: %s', async (_, status, body) => {
    const error = await failure(reply(status, body));
    expect(error).toBeInstanceOf(BadResponseError);
    expect(error).toMatchObject({ status, hint: expect.stringContaining('esign profiles show') as unknown });
  });

  it('that redirects is never followed, so the key goes nowhere else', async () => {
    const other = await startServer((_, response) => json(response, 200, { data: { id: 'env_1' } }));
    const error = await failure(reply(302, '{"data":{}}', { location: `${other.origin}/x` }));
    expect(error).toMatchObject({
      code: 'BAD_RESPONSE',
      message: expect.stringContaining(other.origin) as unknown,
    });
    expect(other.seen).toEqual([]);
  });

  it('that is larger than 64 MiB is dropped', { tags: ['full'] }, async () => {
    let sent = 0;
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const error = await failure((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && sent++ < 200 && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    expect(error).toMatchObject({ code: 'BAD_RESPONSE', status: 200 });
    expect(sent).toBeLessThan(200);
  });
});

describe('a missing response', () => {
  it('means "never sent" when nothing is listening', async () => {
    const { origin, close } = await startServer(() => undefined);
    await close();
    await expect(clientFor(origin, { retries: 0 }).envelopes.get('x')).rejects.toMatchObject({
      code: 'NETWORK',
      maybeReceived: false,
      // A retry can't make a local server start.
      isLasting: true,
    });
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['the connection is closed', loseReply],
    [
      'the response is truncated',
      (response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"data":{"id":"env_1"}}', () => response.destroy());
      },
    ],
  ])('means "may have been received" when %s', async (_, answer) => {
    expect(await failure(answer)).toMatchObject({ code: 'NETWORK', maybeReceived: true });
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['no first byte', () => undefined],
    ['a body that arrives slowly', (response) => setInterval(() => response.write(' '), 50).unref()],
  ])('ends with TIMEOUT: %s', async (_, answer) => {
    expect(await failure(answer, { timeoutMs: 300 })).toMatchObject({ code: 'TIMEOUT', maybeReceived: true });
  });
});
