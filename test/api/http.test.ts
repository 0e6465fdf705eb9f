import { afterEach, describe, expect, it } from 'vitest';
import type { TraceEntry } from '../../src/api/http.ts';
import { BadResponseError, NetworkError, ServiceError } from '../../src/kernel/errors.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { json, loseReply, startServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;
const template = {
  id: 'tmpl_1',
  name: 'Lease',
  fields: [{ fieldId: 'f', type: 'HOLOGRAM' }],
  extra: { kept: true },
};

afterEach(async () => {
  await server?.close();
});

describe('a request to the service', () => {
  it('sends the key as a bearer token and the body as JSON', async () => {
    server = await startServer((_, response) => json(response, 201, { data: { id: 'env_1' } }));
    await clientFor(server.origin).envelopes.create({
      templateId: 't',
      signers: [{ email: 'a@b.c', name: 'A' }],
    });
    expect(server.seen[0]).toMatchObject({ method: 'POST', path: '/api/v1/esign/envelopes' });
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer sk_test_0123456789',
      'content-type': 'application/json',
    });
    expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({
      templateId: 't',
      signers: [{ email: 'a@b.c', name: 'A' }],
    });
  });

  it('returns a resource as received: unknown fields, unknown types, field order', async () => {
    server = await startServer((_, response) => json(response, 200, { data: { zebra: 1, ...template } }));
    const read = await clientFor(server.origin).templates.get('tmpl_1');
    expect(JSON.stringify(read)).toBe(JSON.stringify({ zebra: 1, ...template }));
  });

  it('encodes ids, so that an id never becomes a path', async () => {
    server = await startServer((_, response) => json(response, 200, { data: { id: 'x' } }));
    await clientFor(server.origin).envelopes.get('../keys?x=1#y');
    expect(server.seen[0]?.path).toBe('/api/v1/esign/envelopes/..%2Fkeys%3Fx%3D1%23y');
  });

  it("retries after a 429 from a gateway, whose body is not the API's", async () => {
    const clock = fakeClock();
    server = await startServer((_, response, number) => {
      if (number > 1) json(response, 200, { data: { id: 'env_1' } });
      else response.writeHead(429, { 'content-type': 'text/html', 'retry-after': '7' }).end('<h1>Slow');
    });
    const client = clientFor(server.origin, { clock });
    expect(await client.envelopes.send('env_1')).toMatchObject({ id: 'env_1' });
    expect([server.seen.map(({ method }) => method), clock.slept]).toEqual([['POST', 'POST'], [7_000]]);
  });

  it("accepts that a gateway refuses the key, whose body is not the API's", async () => {
    server = await startServer((_, response) => json(response, 401, { message: 'Unauthorized' }));
    const sent = clientFor(server.origin).envelopes.send('env_1');
    await expect(sent).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
  });

  it.each([
    [401, 'UNAUTHORIZED'],
    [403, 'QUOTA_EXCEEDED'],
    [400, 'INVALID_STATE'],
    [418, 'A_CODE_NOBODY_KNOWS'],
  ])('turns an error body with status %i into a ServiceError', async (status, code) => {
    server = await startServer((_, response) =>
      json(response, status, { error: { code, message: 'because' } }),
    );
    const error: unknown = await clientFor(server.origin)
      .templates.get('x')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code, status, message: 'because' });
    expect(server.seen).toHaveLength(1);
  });

  it('keeps the details of a validation error, even if a message is not in a list', async () => {
    const details = {
      signers: ['At least one signer is required'],
      'signers.0.email': 'bad',
      odd: [{ a: 1 }],
    };
    server = await startServer((_, response) =>
      json(response, 400, { error: { code: 'VALIDATION_ERROR', message: 'm', details } }),
    );
    await expect(clientFor(server.origin).templates.get('x')).rejects.toMatchObject({
      details: { signers: ['At least one signer is required'], 'signers.0.email': ['bad'], odd: ['{"a":1}'] },
    });
  });

  it.each([
    ['a login page', 200, 'text/html', '<html>Sign in</html>'],
    ['an empty resource', 200, 'application/json', ''],
    ['JSON that is not a resource', 200, 'application/json', '{"ok":true}'],
    ['an envelope without an id', 200, 'application/json', '{"data":{"status":"SENT"}}'],
    ['an envelope with an empty id', 200, 'application/json', '{"data":{"id":""}}'],
    ['cut JSON', 200, 'application/json', '{"data":{"id":"env'],
    ['a 404 page of another server', 404, 'text/html', 'not here'],
    ["another API's JSON errors", 400, 'application/json', '{"message":"nope"}'],
  ])('refuses %s', async (_, status, type, body) => {
    server = await startServer(
      (_request, response) => void response.writeHead(status, { 'content-type': type }).end(body),
    );
    const error: unknown = await clientFor(server.origin)
      .envelopes.get('env_1')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadResponseError);
  });

  it('never follows a redirect, so the key goes nowhere else', async () => {
    const other = await startServer((_, response) => json(response, 200, { data: { id: 'env_1' } }));
    server = await startServer(
      (_, response) => void response.writeHead(302, { location: `${other.origin}/x` }).end(),
    );
    await expect(clientFor(server.origin).envelopes.get('env_1')).rejects.toThrow(/redirect .302. to http/);
    expect(other.seen).toHaveLength(0);
    await other.close();
  });

  it('accepts any 2xx body as the response to an action', async () => {
    const replies = [
      '{"data":{"id":"env_1","status":"SENT"}}',
      '{"data":{"success":true}}',
      '{"success":true}',
      '',
      '{"data":{"id":"other"}}',
    ];
    server = await startServer(
      (_, response, n) => void response.writeHead(n === 4 ? 204 : 200).end(replies[n - 1]),
    );
    const { envelopes } = clientFor(server.origin);
    expect(await envelopes.send('env_1')).toMatchObject({ id: 'env_1', status: 'SENT' });
    for (let i = 1; i < replies.length; i++) expect(await envelopes.send('env_1')).toBeUndefined();
  });
});

describe('a missing response', () => {
  it('means "never sent" when nothing is listening', async () => {
    server = await startServer(() => undefined);
    const { origin } = server;
    await server.close();
    const error: unknown = await clientFor(origin, { retries: 0 })
      .envelopes.get('x')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: 'NETWORK', maybeReceived: false });
    expect(String(error)).toContain('connection refused');
  });

  it('means "may have been received" when the connection is closed without a response', async () => {
    server = await startServer((_, response) => loseReply(response));
    await expect(clientFor(server.origin, { retries: 0 }).envelopes.get('x')).rejects.toMatchObject({
      maybeReceived: true,
    });
  });

  it('means "may have been received" when the response is truncated', async () => {
    server = await startServer((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"data":{"id":"env_1"}}', () => response.destroy());
    });
    await expect(clientFor(server.origin, { retries: 0 }).envelopes.get('x')).rejects.toMatchObject({
      maybeReceived: true,
    });
  });

  it.each([
    ['no first byte', (response: { write(text: string): void }) => void response],
    [
      'a body that arrives slowly',
      (response: { write(text: string): void }) => setInterval(() => response.write(' '), 50).unref(),
    ],
  ])('ends with TIMEOUT: %s', async (_, misbehave) => {
    server = await startServer((_request, response) => void misbehave(response));
    await expect(
      clientFor(server.origin, { retries: 0, timeoutMs: 300 }).envelopes.get('x'),
    ).rejects.toMatchObject({
      code: 'TIMEOUT',
      maybeReceived: true,
    });
  });

  it('ends immediately when the caller aborts', async () => {
    server = await startServer(() => undefined);
    const controller = new AbortController();
    const asked = clientFor(server.origin).envelopes.get('x', controller.signal);
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(asked).rejects.toThrow('enough');
  });
});

describe('the reset time', () => {
  it("converts the reset time to the local clock when the service's clock differs", async () => {
    const clock = fakeClock();
    const rates: unknown[] = [];
    const theirs = clock.now() + 3_600_000;
    server = await startServer((_, response) =>
      json(
        response,
        200,
        { data: template },
        { 'X-RateLimit-Reset': String(theirs / 1_000 + 60), Date: new Date(theirs).toUTCString() },
      ),
    );
    await clientFor(server.origin, {
      clock,
      trace: (entry) => rates.push(entry.rate?.resetAt),
    }).templates.get('t');
    expect(rates).toEqual([clock.now() + 60_000]);
  });
});

describe('the trace', () => {
  it('traces the method, URL, status, duration, rate limit, and bodies', async () => {
    const entries: TraceEntry[] = [];
    const headers = {
      'X-RateLimit-Limit': '100',
      'X-RateLimit-Remaining': '99',
      'X-RateLimit-Reset': '1767323046',
      Date: new Date(fakeClock().now()).toUTCString(),
    };
    server = await startServer((_, response) => json(response, 200, { data: template }, headers));
    await clientFor(server.origin, { trace: (entry) => entries.push(entry) }).templates.get('tmpl_1');
    expect(entries[0]).toMatchObject({ method: 'GET', status: 200, error: undefined });
    expect(entries[0]?.rate).toEqual({
      limit: 100,
      remaining: 99,
      resetAt: 1_767_323_046_000,
      retryAfterMs: undefined,
    });
  });
});
