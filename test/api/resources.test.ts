import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import { BadResponseError } from '../../src/kernel/errors.ts';
import { clientFor } from '../support/client.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** A client of a service that returns this body for every request. */
async function serviceWith(body: unknown): Promise<Client> {
  server = await startServer((_, response) => json(response, 200, body));
  return clientFor(server.origin, { retries: 0 });
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const pagination = (more: object = {}) => ({ meta: { pagination: { total: 2, totalPages: 1, ...more } } });
const two = { data: [{ id: 'one' }, { id: 'two', extra: [1] }], ...pagination() };
const asked = () => server?.seen.map(({ method, path, query }) => `${method} ${path} ${query}`);

describe('templates', () => {
  it('are listed under their own path, in pages of 100 or of the given size', async () => {
    const { templates } = await serviceWith(two);
    expect(await all(templates.list())).toEqual(two.data);
    expect(await all(templates.list({ pageSize: 7 }))).toEqual(two.data);
    expect(asked()).toEqual([
      'GET /api/v1/esign/templates page=1&pageSize=100',
      'GET /api/v1/esign/templates page=1&pageSize=7',
    ]);
  });

  it('are fetched one by one, with any ID', async () => {
    const { templates } = await serviceWith({ data: { id: 'tmpl/1' } });
    expect(await templates.get('tmpl/1?')).toEqual({ id: 'tmpl/1' });
    expect(server?.seen[0]).toMatchObject({ method: 'GET', path: '/api/v1/esign/templates/tmpl%2F1%3F' });
  });

  it('stop when the caller aborts', async () => {
    const { templates } = await serviceWith(two);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(all(templates.list({ signal }))).rejects.toThrow('enough');
    await expect(templates.get('x', signal)).rejects.toThrow('enough');
    expect(server?.seen).toEqual([]);
  });
});

describe('envelopes', () => {
  it('are listed by status and page size if specified', async () => {
    const { envelopes } = await serviceWith(two);
    expect(await all(envelopes.list())).toEqual(two.data);
    expect(await all(envelopes.list({ status: 'SENT', pageSize: 5 }))).toEqual(two.data);
    expect(asked()).toEqual([
      'GET /api/v1/esign/envelopes page=1&pageSize=100',
      'GET /api/v1/esign/envelopes status=SENT&page=1&pageSize=5',
    ]);
  });

  it('are listed page by page, with the total', async () => {
    const { envelopes } = await serviceWith({ ...two, ...pagination({ totalPages: 9 }) });
    expect(await envelopes.page(3)).toEqual({ items: two.data, totalPages: 9, total: 2 });
    expect(await envelopes.page(4, { status: 'DRAFT' })).toEqual({
      items: two.data,
      totalPages: 9,
      total: 2,
    });
    expect(asked()).toEqual([
      'GET /api/v1/esign/envelopes page=3&pageSize=100',
      'GET /api/v1/esign/envelopes status=DRAFT&page=4&pageSize=100',
    ]);
  });

  it.each([{ meta: null }, { meta: { pagination: null } }, { meta: { pagination: {} } }, {}])(
    'are listed page by page without a total: %j',
    async (meta) => {
      const { envelopes } = await serviceWith({ data: two.data, ...meta });
      expect(await envelopes.page(1)).toEqual({ items: two.data, totalPages: undefined });
    },
  );

  it('are listed by recency with the same request', async () => {
    const { envelopes } = await serviceWith(two);
    expect(await all(envelopes.recent(() => 0))).toEqual(two.data);
    expect(asked()).toEqual(['GET /api/v1/esign/envelopes page=1&pageSize=100']);
  });

  it('are changed with a body only if there is something to send', async () => {
    const { envelopes } = await serviceWith({ data: { id: 'env_1' } });
    await envelopes.send('env_1');
    await envelopes.cancel('env_1');
    await envelopes.cancel('env_1', '');
    await envelopes.remind('env_1');
    await envelopes.remind('env_1', 'signer_1');
    expect(server?.seen.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
      'POST /api/v1/esign/envelopes/env_1/send ',
      'POST /api/v1/esign/envelopes/env_1/cancel ',
      'POST /api/v1/esign/envelopes/env_1/cancel {"reason":""}',
      'POST /api/v1/esign/envelopes/env_1/remind ',
      'POST /api/v1/esign/envelopes/env_1/remind {"signerId":"signer_1"}',
    ]);
  });

  it('stop when the caller aborts', async () => {
    const { envelopes } = await serviceWith(two);
    const signal = AbortSignal.abort(new Error('enough'));
    for (const call of [
      () => all(envelopes.list({ signal })),
      () => all(envelopes.recent(() => 0, signal)),
      () => envelopes.page(1, { signal }),
      () => envelopes.get('x', signal),
      () => envelopes.create({ templateId: 't', signers: [] }, signal),
      () => envelopes.send('x', signal),
      () => envelopes.cancel('x', undefined, signal),
      () => envelopes.remind('x', undefined, signal),
    ])
      await expect(call()).rejects.toThrow('enough');
    expect(server?.seen).toEqual([]);
  });
});

describe('an unexpected response', () => {
  const create = ({ envelopes }: Client) => envelopes.create({ templateId: 't', signers: [] });

  it.each<[string, unknown, (client: Client) => Promise<unknown>, string]>([
    [
      'a list as an envelope',
      { data: [] },
      ({ envelopes }) => envelopes.get('x'),
      'an envelope: the response body',
    ],
    [
      'a string as an envelope',
      '"x"',
      ({ envelopes }) => envelopes.get('x'),
      'an envelope: the response body',
    ],
    ['no id', { data: { status: 'SENT' } }, create, 'an envelope: id'],
    ['an id that is a number', { data: { id: 7 } }, create, 'an envelope: id'],
    [
      'a status that is a number',
      { data: { id: 'x', status: 7 } },
      ({ envelopes }) => envelopes.get('x'),
      'an envelope: status',
    ],
    [
      'an invalid signer',
      { data: { id: 'x', signers: [{ email: 'a@b.c' }, { email: 7 }] } },
      ({ envelopes }) => envelopes.get('x'),
      'an envelope: signers.1.email',
    ],
    [
      'an item without an id',
      { data: [{ id: 'x' }, {}] },
      ({ envelopes }) => all(envelopes.list()),
      'a list of envelopes: id',
    ],
    [
      'an item that is a string',
      { data: ['x'] },
      ({ envelopes }) => envelopes.page(1),
      'a list of envelopes: the response body',
    ],
    ['no list', { data: { id: 'x' } }, ({ envelopes }) => all(envelopes.list()), 'a list: data'],
    ['no list of templates', { data: {} }, ({ templates }) => all(templates.list()), 'a list: data'],
    [
      'a template without an id',
      { data: [{ name: 'Lease' }] },
      ({ templates }) => all(templates.list()),
      'a list of templates: id',
    ],
    [
      'a template that is a list',
      { data: [] },
      ({ templates }) => templates.get('x'),
      'a template: the response body',
    ],
    ['a string as a template', '"x"', ({ templates }) => templates.get('x'), 'a template: the response body'],
  ])('is reported with the mismatch: %s', async (_, body, call, what) => {
    const error: unknown = await call(await serviceWith(body)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadResponseError);
    expect(error).toMatchObject({
      status: 200,
      message: expect.stringContaining(`${what} is missing`) as unknown,
      hint: expect.stringContaining('`esign profiles show`') as unknown,
    });
  });

  it('is accepted if fields are null, unknown, or have unknown values', async () => {
    const odd = {
      id: 'x',
      status: 'FROZEN',
      signers: null,
      metadata: null,
      sentAt: null,
      webhookUrl: null,
      new: { deep: [1] },
    };
    const { envelopes } = await serviceWith({ data: odd, more: true });
    expect(await envelopes.get('x')).toEqual(odd);
  });
});
