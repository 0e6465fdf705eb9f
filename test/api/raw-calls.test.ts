import { afterEach, describe, expect, it } from 'vitest';
import type { Method, RawResponse } from '../../src/api/http.ts';
import { callMethod, callPages, callPath, isWrite, sendCall } from '../../src/api/raw.ts';
import { UnknownOutcomeError, UsageError } from '../../src/kernel/errors.ts';
import { clientFor } from '../support/client.ts';
import { json, loseReply, startServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

const sendTo = (origin: string) => clientFor(origin, { retries: 0 }).send;
const asked = () => server?.seen.map(({ path, query }) => `${path}?${query}`);

describe('an invalid direct call', () => {
  const base = 'https://api.example.com/api/v1';
  const refusal = (run: () => unknown): unknown => {
    try {
      return run();
    } catch (error) {
      return error;
    }
  };

  it('reports the allowed methods', () => {
    expect(refusal(() => callMethod('HEAD'))).toMatchObject({
      message: 'Unknown method "HEAD".',
      hint: 'The methods are GET, POST, PUT, PATCH, DELETE.',
    });
  });

  it.each([
    ['/a b', 'The path "/a b" contains a space', 'such as /esign/envelopes'],
    ['/../keys', 'The path "/../keys" is outside the API.', 'such as /esign/envelopes'],
    ['//evil.example/x', 'The path "//evil.example/x" is outside the API.', 'such as /esign/envelopes'],
    [
      'https://evil.example/x',
      `https://evil.example/x is outside ${base}. The API key is never sent anywhere else.`,
      'esign profiles add NAME',
    ],
  ])('reports the problem with %s and shows a valid form', (path, message, hint) => {
    const error = refusal(() => callPath(path, base));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({
      message: expect.stringContaining(message) as unknown,
      hint: expect.stringContaining(hint) as unknown,
    });
  });
});

describe('a direct call', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'returns the response of %s as received',
    async (method) => {
      const text = '{ "data": 1.50, "data": [12345678901234567890] }\n';
      server = await startServer(
        (_, response) =>
          void response
            .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'r1' })
            .end(text),
      );
      const replies: RawResponse[] = [];
      const bodyText = isWrite(method) ? '{"a": 1}' : undefined;
      const call = { method, path: '/keys?x=1', query: [['y', '2']] as [string, string][], bodyText };
      const onResponse = (reply: RawResponse) => replies.push(reply);
      expect(await sendCall(sendTo(server.origin), { ...call, onResponse: onResponse })).toBe(text);
      expect(await sendCall(sendTo(server.origin), call)).toBe(text);
      expect(server.seen[0]).toMatchObject({ method, path: '/api/v1/keys', body: bodyText ?? '' });
      expect(asked()?.[0]).toBe('/api/v1/keys?x=1&y=2');
      expect(replies).toMatchObject([{ status: 200, text, headers: { 'x-request-id': 'r1' } }]);
    },
  );

  it('returns an empty text for a response without a body', async () => {
    server = await startServer((_, response) => void response.writeHead(204).end());
    expect(await sendCall(sendTo(server.origin), { method: 'DELETE', path: '/keys/1', query: [] })).toBe('');
  });

  it('shows the refusal before it fails', async () => {
    const statuses: number[] = [];
    server = await startServer((_, response) => json(response, 404, { error: { code: 'NOT_FOUND' } }));
    await expect(
      sendCall(sendTo(server.origin), {
        method: 'GET',
        path: '/keys/1',
        query: [],
        onResponse: ({ status }) => statuses.push(status),
      }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(statuses).toEqual([404]);
  });

  it('stops when the caller aborts', async () => {
    server = await startServer((_, response) => json(response, 200, {}));
    const call = { path: '/x', query: [], signal: AbortSignal.abort(new Error('enough')) };
    await expect(sendCall(sendTo(server.origin), { ...call, method: 'POST' })).rejects.toThrow('enough');
    await expect(callPages(sendTo(server.origin), { ...call, method: 'GET' }).next()).rejects.toThrow(
      'enough',
    );
    expect(server.seen).toEqual([]);
  });
});

describe('a direct call whose response is lost', () => {
  const lost: [string, Parameters<typeof startServer>[0]][] = [
    ['a closed connection', (_, response) => loseReply(response)],
    [
      'status 500',
      (_, response) => json(response, 500, { error: { code: 'INTERNAL_ERROR', message: 'Oops.' } }),
    ],
    ['a gateway', (_, response) => void response.writeHead(502).end('<html>')],
    ['a login page', (_, response) => void response.writeHead(200).end('<html>')],
  ];

  it.each(lost)('has an unknown outcome if it writes, and is sent only once: %s', async (_, answer) => {
    server = await startServer(answer);
    const { send } = clientFor(server.origin);
    const error: unknown = await sendCall(send, { method: 'POST', path: '/keys', query: [['a', '1']] }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({
      message: expect.stringContaining('POST /keys') as unknown,
      hint: expect.any(String) as unknown,
      cause: expect.any(Error) as unknown,
    });
    expect(server.seen).toHaveLength(1);
  });

  it.each(lost)('fails if it reads: %s', async (_, answer) => {
    server = await startServer(answer);
    const error: unknown = await sendCall(sendTo(server.origin), {
      method: 'GET',
      path: '/x',
      query: [],
    }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(UnknownOutcomeError);
  });

  it('has a known outcome if the service refused it or was never reached', async () => {
    server = await startServer((_, response) => json(response, 400, { error: { code: 'VALIDATION_ERROR' } }));
    const { origin } = server;
    const write = { method: 'PUT', path: '/x', query: [] } as const;
    await expect(sendCall(sendTo(origin), write)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await server.close();
    await expect(sendCall(sendTo(origin), write)).rejects.toMatchObject({
      code: 'NETWORK',
      maybeReceived: false,
    });
  });
});

describe('a direct call with --paginate', () => {
  /** A paginated list of this many items, with the counts that the test specifies. */
  async function list(
    items: readonly unknown[],
    options: { count?: boolean; ignoresPage?: boolean; pageSize?: number } = {},
  ) {
    server = await startServer(({ query }, response) => {
      const size = options.pageSize ?? Number(query.get('pageSize'));
      const page = options.ignoresPage ? 1 : Number(query.get('page'));
      const data = items.slice((page - 1) * size, page * size);
      const meta = { pagination: { totalPages: Math.ceil(items.length / size) } };
      json(response, 200, options.count ? { data, meta } : { data });
    });
    return sendTo(server.origin);
  }
  const items = Array.from({ length: 5 }, (_, i) => ({ id: `env_${i}` }));
  const texts = (some: readonly unknown[]) => some.map((item) => JSON.stringify(item));

  async function pagesOf(
    send: ReturnType<typeof sendTo>,
    path = '/list',
    query: [string, string][] = [],
    onResponse?: (reply: RawResponse) => void,
  ): Promise<string[]> {
    const found: string[] = [];
    const method: Method = 'GET';
    for await (const item of callPages(send, { method, path, query, onResponse: onResponse }))
      found.push(item);
    return found;
  }

  it('reads as many pages as the service counts', async () => {
    const statuses: number[] = [];
    const send = await list(items, { count: true });
    const found = await pagesOf(send, '/list?pageSize=2', [['status', 'A B']], (reply) =>
      statuses.push(reply.status),
    );
    expect(found).toEqual(texts(items));
    expect(asked()).toEqual([
      '/api/v1/list?status=A+B&page=1&pageSize=2',
      '/api/v1/list?status=A+B&page=2&pageSize=2',
      '/api/v1/list?status=A+B&page=3&pageSize=2',
    ]);
    expect(statuses).toEqual([200, 200, 200]);
  });

  it('reads pages of 100 by default, and stops at an empty one if nothing is counted', async () => {
    expect(await pagesOf(await list(items))).toEqual(texts(items));
    expect(asked()).toEqual(['/api/v1/list?page=1&pageSize=100', '/api/v1/list?page=2&pageSize=100']);
  });

  it('returns an empty list', async () => {
    expect(await pagesOf(await list([]))).toEqual([]);
    expect(server?.seen).toHaveLength(1);
    await server?.close();
    expect(await pagesOf(await list([], { count: true }))).toEqual([]);
    expect(server?.seen).toHaveLength(1);
  });

  it('stops when the service returns the same page again and again', async () => {
    const odd = [1, 1, 'x', { name: 'no id' }, { id: 7 }];
    expect(await pagesOf(await list(odd, { ignoresPage: true }))).toEqual(texts(odd));
    expect(server?.seen).toHaveLength(2);
  });

  it('starts at the page of the query', async () => {
    expect(
      await pagesOf(await list(items, { count: true }), '/list', [
        ['page', '2'],
        ['pageSize', '2'],
      ]),
    ).toEqual(texts(items.slice(2)));
    expect(asked()).toEqual(['/api/v1/list?page=2&pageSize=2', '/api/v1/list?page=3&pageSize=2']);
  });

  it.each(['0', '-1', '1.5', 'x', 'x1', '1x', '', '1e3', '9999999999'])(
    'refuses to start at page %j',
    async (page) => {
      const send = await list(items);
      const error: unknown = await pagesOf(send, '/list', [['page', page]]).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(UsageError);
      expect(error).toMatchObject({
        message: expect.stringContaining(`"${page}"`) as unknown,
        hint: expect.any(String) as unknown,
      });
      expect(server?.seen).toEqual([]);
    },
  );

  it('keeps a query that contains a question mark', async () => {
    await pagesOf(await list([]), '/list?next=/a?b');
    expect(server?.seen[0]?.query.get('next')).toBe('/a?b');
  });

  it('can start at a late page', async () => {
    expect(await pagesOf(await list(items), '/list', [['page', '123456789']])).toEqual([]);
  });

  it('returns each ID once if items are added in the meantime, but items without an ID always', async () => {
    const pages = [[{ id: 'a' }, { id: 'b' }, 'x'], [{ id: 'b' }, { id: 'c' }, 'x'], [{ id: 'c' }]];
    server = await startServer((_, response, number) =>
      json(response, 200, { data: pages[number - 1] ?? [] }),
    );
    expect(await pagesOf(sendTo(server.origin))).toEqual(
      texts([{ id: 'a' }, { id: 'b' }, 'x', { id: 'c' }, 'x']),
    );
  });

  it('keeps digits and order as sent, however the response is formatted', async () => {
    const replies = [
      '{"meta":{},"data":[ {"z":1.50,"a":12345678901234567890} ,2]}',
      '{"d\\u0061ta":[3]}',
      '{"data":[]}',
    ];
    server = await startServer(
      (_, response, number) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(replies[number - 1]),
    );
    expect(await pagesOf(sendTo(server.origin))).toEqual(['{"z":1.50,"a":12345678901234567890}', '2', '3']);
  });

  it.each([
    ['meta without pagination', { meta: {} }],
    ['no count', { meta: { pagination: { total: 3 } } }],
    ['a count that is null', { meta: { pagination: { totalPages: null } } }],
    ['meta that is null', { meta: null }],
  ])('stops at an empty page with %s', async (_, meta) => {
    server = await startServer((_request, response, number) =>
      json(response, 200, { data: number < 3 ? [{ id: number }] : [], ...meta }),
    );
    expect(await pagesOf(sendTo(server.origin))).toHaveLength(2);
    expect(server.seen).toHaveLength(3);
  });

  it('rejects a response that is not a list', async () => {
    server = await startServer((_, response) => json(response, 200, { data: { id: 'env_1' } }));
    await expect(pagesOf(sendTo(server.origin))).rejects.toThrow('a list: data');
  });
});
