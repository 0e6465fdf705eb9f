import { beforeAll, expect, it } from 'vitest';
import { createClient, type Esign, UsageError } from '../../src/client/client.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let esign: Esign;
beforeAll(async () => {
  server = await startServer((_, response) => json(response, 200, { data: [] }));
  esign = createClient({ baseUrl: `${server.origin}/api/v1`, apiKey: 'sk_test_0123456789' });
});

const create = (requestId: string) =>
  esign.envelopes.create(
    { templateId: 'tmpl_nda', signers: [{ email: 'ada@example.com', name: 'Ada' }] },
    { requestId },
  );

it.each<[string, () => Promise<unknown>]>([
  ['an empty ID', () => esign.envelopes.get('')],
  ['an ID that is a path', () => esign.envelopes.cancel('..')],
  ['an ID of a template that is a path', () => esign.templates.get('..')],
  ['an empty signer', () => esign.envelopes.remind('env_1', { signer: '' })],
  ['an empty request ID', () => create('')],
  ['a request ID with a space at its end', () => create('order-1 ')],
  ['a request ID of 201 characters', () => create('x'.repeat(201))],
])('sends nothing for %s', async (_, call) => {
  await expect(call()).rejects.toThrow(UsageError);
  expect(server.seen).toEqual([]);
});
