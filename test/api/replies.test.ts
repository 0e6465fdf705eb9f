import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpRequest, TraceEntry } from '../../src/api/http.ts';
import { BadResponseError, NetworkError, ServiceError } from '../../src/kernel/errors.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { json, loseReply, startServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** Returns the error of a request to a service with this response. */
async function endOf(
  answer: (response: ServerResponse) => void,
  request: Partial<HttpRequest> = {},
): Promise<unknown> {
  await server?.close();
  server = await startServer((_, response) => answer(response));
  // The test reads a lot of data, also on slow machines.
  return clientFor(server.origin, { retries: 0, timeoutMs: 30_000 })
    .send({ method: 'GET', path: '/x', ...request })
    .catch((error: unknown) => error);
}

const reply =
  (status: number, body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);

describe('a request', () => {
  it('names the client and the accepted type, and no content type without a body', async () => {
    await endOf(reply(200, '{}'));
    const headers = server?.seen[0]?.headers;
    expect(headers).toMatchObject({ accept: 'application/json', 'user-agent': 'esign-test' });
    expect(headers).not.toHaveProperty('content-type');
    await server?.close();
    await endOf(reply(200, '{}'), { method: 'POST' });
    expect(server?.seen[0]).toMatchObject({ method: 'POST', body: '' });
    expect(server?.seen[0]?.headers).not.toHaveProperty('content-type');
  });

  it('sends JSON text unchanged', async () => {
    const bodyText = '{ "b" : 1.0,\n"a":12345678901234567890 }';
    await endOf(reply(200, '{}'), { method: 'POST', bodyText });
    expect(server?.seen[0]?.body).toBe(bodyText);
    expect(server?.seen[0]?.headers['content-type']).toBe('application/json');
  });

  it.each([
    [undefined, ''],
    [{}, ''],
    [{ status: 'SENT' }, '?status=SENT'],
    [{ a: '1 & 2', b: 'é' }, '?a=1+%26+2&b=%C3%A9'],
  ])('sends the query %j as %j', async (query, shown) => {
    const entries: TraceEntry[] = [];
    await server?.close();
    server = await startServer((_, response) => json(response, 200, {}));
    const { send } = clientFor(server.origin, { trace: (entry) => entries.push(entry) });
    await send({ method: 'GET', path: '/x', ...(query ? { query } : {}) });
    expect(entries[0]?.url).toBe(`${server.origin}/api/v1/x${shown}`);
    expect(Object.fromEntries(server.seen[0]?.query ?? [])).toEqual(query ?? {});
  });
});

describe('a response without a body', () => {
  it.each([
    [200, ''],
    [204, ''],
    [200, ' \r\n'],
    [299, ''],
  ])('accepts a response without a body with status %i', async (status, body) => {
    expect(await endOf(reply(status, body))).toMatchObject({ status, body: undefined });
  });

  it.each([400, 404, 500])(
    'refuses a response without a body with status %i as not from the API',
    async (status) => {
      expect(await endOf(reply(status, ''))).toMatchObject({ code: 'BAD_RESPONSE', status });
    },
  );
});

describe('a response that is not from the API', () => {
  const hint = expect.stringContaining('esign profiles show') as unknown;

  it.each([
    ['a login page', 200, '<html>Sign in</html>', 'text/html; charset=utf-8', 'text/html, 20 characters'],
    ['cut JSON', 200, '{"data":', 'application/json', 'application/json, 8 characters'],
    ['a gateway', 502, 'Bad Gateway', 'text/plain', 'text/plain, 11 characters'],
    ['other JSON errors', 400, '{"message":"nope"}', 'application/json', 'application/json, 18 characters'],
    ['no content type', 200, 'hello', undefined, 'no content type, 5 characters'],
  ])('is refused and shown: %s', async (_, status, body, type, shown) => {
    const error = await endOf(reply(status, body, type === undefined ? {} : { 'content-type': type }));
    expect(error).toBeInstanceOf(BadResponseError);
    expect(error).toMatchObject({
      status,
      hint,
      message: expect.stringContaining(`(${shown})`) as unknown,
    });
  });

  it.each([
    [300, 'https://other.example/login?next=x', 'https://other.example'],
    [301, '//other.example:8443/x', 'http://other.example:8443'],
    [307, '/login', 'itself'],
    [308, 'http://', 'another address'],
    [399, undefined, 'another address'],
  ])('is never followed as a redirect: %i to %s', async (status, location, shown) => {
    const error = await endOf(reply(status, '{"data":{}}', location === undefined ? {} : { location }));
    const target = shown === 'itself' ? server?.origin : shown;
    expect(error).toBeInstanceOf(BadResponseError);
    expect(error).toMatchObject({
      status,
      message: expect.stringContaining(`(${status}) to ${target}`) as unknown,
      hint: expect.stringContaining('`esign profiles show`') as unknown,
    });
    expect(server?.seen).toHaveLength(1);
  });

  it('has a status that differs from its body', async () => {
    const error = await endOf(reply(200, '{"error":{"code":"QUOTA_EXCEEDED"}}'));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: 'QUOTA_EXCEEDED', message: 'QUOTA_EXCEEDED', status: 200 });
  });
});

describe('the trace of a request', () => {
  it('contains what was sent, what was received, and the duration', async () => {
    const clock = fakeClock();
    const entries: TraceEntry[] = [];
    await server?.close();
    server = await startServer((_, response) => {
      clock.time += 40;
      json(response, 201, { data: { id: 'env_1' } });
    });
    const { send } = clientFor(server.origin, { clock, trace: (entry) => entries.push(entry) });
    await send({ method: 'POST', path: '/x', body: { a: 1 } });
    expect(entries).toMatchObject([
      {
        method: 'POST',
        url: `${server.origin}/api/v1/x`,
        status: 201,
        ms: 40,
        requestBody: '{"a":1}',
        responseBody: '{"data":{"id":"env_1"}}',
        error: undefined,
      },
    ]);
  });

  it('contains the reason for a missing response, and the error of a refusal', async () => {
    const entries: TraceEntry[] = [];
    await server?.close();
    server = await startServer((_, response, number) =>
      number === 1
        ? loseReply(response)
        : json(response, 404, { error: { code: 'NOT_FOUND', message: 'no such envelope' } }),
    );
    const { send } = clientFor(server.origin, { retries: 0, trace: (entry) => entries.push(entry) });
    for (let i = 0; i < 2; i++) await send({ method: 'GET', path: '/x' }).catch(() => undefined);
    expect(entries[0]).toMatchObject({ status: undefined, rate: undefined, responseBody: undefined });
    expect(entries[0]?.error).toContain(`${server.origin} was lost`);
    expect(entries[1]).toMatchObject({ status: 404, error: 'no such envelope' });
  });
});

describe('an abort', () => {
  it('rejects with its reason, before a request and while waiting for a response', async () => {
    const reason = new Error('enough');
    expect(await endOf(reply(200, '{}'), { signal: AbortSignal.abort(reason) })).toBe(reason);
    expect(server?.seen).toHaveLength(0);
    await server?.close();
    const controller = new AbortController();
    const ended = endOf(() => controller.abort(reason), { signal: controller.signal });
    expect(await ended).toBe(reason);
    expect(server?.seen).toHaveLength(1);
  });

  it('is not confused with a timeout', async () => {
    await server?.close();
    server = await startServer(() => undefined);
    const { send } = clientFor(server.origin, { retries: 0, timeoutMs: 200 });
    const { signal } = new AbortController();
    await expect(send({ method: 'GET', path: '/x', signal })).rejects.toBeInstanceOf(NetworkError);
  });

  it("leaves no listener on the caller's signal, however many requests share it", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    await server?.close();
    server = await startServer((_, response, number) =>
      number % 5 === 0 ? loseReply(response) : json(response, 200, {}),
    );
    const { send } = clientFor(server.origin, { retries: 0 });
    const many = Array.from({ length: 30 }, () => send({ method: 'GET', path: '/x', signal }));
    await Promise.allSettled(many);
    // Warnings are emitted on the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('an endless response', () => {
  it('is dropped at 64 MiB, before memory runs out', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const error = await endOf((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && sent++ < 200 && response.write(chunk));
        if (!response.destroyed && sent >= 200) response.end('{}');
      };
      response.on('drain', more);
      more();
    });
    expect(error).toBeInstanceOf(BadResponseError);
    expect(error).toMatchObject({
      message: expect.stringContaining('64 MiB') as unknown,
      status: 200,
      hint: expect.stringContaining('`esign profiles show`') as unknown,
    });
    expect(sent).toBeLessThan(200);
  }, 60_000);
});

describe('a nested response', () => {
  const nested = (levels: number) => `{"data":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

  it('is parsed at any realistic depth, and refused before it overflows the stack', async () => {
    const lists = async (levels: number) => endOf((response) => reply(200, nested(levels))(response));
    expect(await lists(500)).toMatchObject({ status: 200 });
    for (const levels of [502, 100_000]) {
      const error = await lists(levels);
      expect(error).toBeInstanceOf(BadResponseError);
      expect(error).toMatchObject({ message: expect.stringContaining('nested deeper than 500') as unknown });
      await server?.close();
    }
  });
});
