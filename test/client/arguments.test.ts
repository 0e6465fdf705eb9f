import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient, type Esign, UsageError } from '../../src/client/client.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

/* Code without types can pass anything. */

let server: TestServer;
let options: { baseUrl: string; apiKey: string };
let esign: Esign;
beforeAll(async () => {
  server = await startServer((_, response) => json(response, 200, { data: [] }));
  options = { baseUrl: `${server.origin}/api/v1`, apiKey: 'sk_test_0123456789' };
  esign = createClient(options);
});
beforeEach(() => {
  server.seen.length = 0;
});
afterAll(() => server.close());

/** Calls a method with any arguments, and returns what it throws or rejects with. */
async function errorOf(method: keyof Esign['envelopes'], ...args: unknown[]): Promise<unknown> {
  try {
    await Reflect.apply(esign.envelopes[method], esign.envelopes, args);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('createClient', () => {
  it.each([
    ['null', null],
    ['nothing', undefined],
    ['a string', 'https://api.example.com'],
  ])('refuses %s instead of options', (_, given) => {
    expect(() => void Reflect.apply(createClient, undefined, [given])).toThrow(UsageError);
  });

  it.each([
    [{ userAgent: 'a\r\nb' }],
    [{ userAgent: '' }],
    [{ userAgent: '日本' }],
    [{ onWait: 5 }],
    [{ stateDir: '' }],
    [{ insecureHttp: 'false' }],
  ])('refuses %j', (wrong) => {
    const create = () => void Reflect.apply(createClient, undefined, [{ ...options, ...wrong }]);
    expect(create).toThrow(UsageError);
    expect(create).toThrow(Object.keys(wrong)[0]);
  });

  it('accepts a user agent in Latin-1 and undefined options', async () => {
    const named = createClient({ ...options, userAgent: 'Prüfer/1.0 (test)', stateDir: undefined });
    await named.envelopes.page(1);
    expect(server.seen.map(({ headers }) => headers['user-agent'])).toEqual(['Prüfer/1.0 (test)']);
  });
});

describe('a call with invalid arguments', () => {
  const signers = [{ email: 'ada@example.com', name: 'Ada' }];

  it.each([
    ['create', [{ signers }]],
    ['create', [{ templateId: '', signers }]],
    ['create', [{ templateId: 'tmpl_nda' }]],
    ['create', [{ templateId: 'tmpl_nda', signers: [{ name: 'Ada' }] }]],
    ['create', [{ templateId: 'tmpl_nda', signers: [{ email: 'ada@example.com' }] }]],
    ['get', []],
    ['get', [5]],
    ['get', ['']],
    ['get', ['.']],
    ['get', ['..']],
    ['cancel', ['..']],
    ['remind', ['', { signer: 'ada@example.com' }]],
    ['remind', ['env_1', { signer: '' }]],
    ['page', [0]],
    ['page', [1.5]],
    ['list', [{ pageSize: 0 }]],
    ['list', [{ pageSize: 101 }]],
    ['list', [{ signal: 5 }]],
    ['get', ['env_1', { signal: { aborted: false } }]],
    ['create', [{ templateId: 'tmpl_nda', signers }, { signal: 5 }]],
  ] as const)('sends nothing: %s %j', async (method, args) => {
    const error = await errorOf(method, ...args);
    expect(error).toBeInstanceOf(UsageError);
    expect(server.seen).toEqual([]);
  });

  it('sends no request for a template, either', async () => {
    await expect(Reflect.apply(esign.templates.get, undefined, ['tmpl_1', { signal: 5 }])).rejects.toThrow(
      UsageError,
    );
    await expect(esign.templates.get('..')).rejects.toThrow('Invalid template ID: "..".');
    expect(() => esign.templates.list({ pageSize: 0 })).toThrow(UsageError);
    expect(server.seen).toEqual([]);
  });
});
