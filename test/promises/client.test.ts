/* Imports `esign-cli/client` of the package under test by name, in a process that is independent of the tests. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { Home, PACKAGE } from '../support/cli.ts';
import { answerPage, fakeService, KEY } from '../support/fake-service.ts';
import { program } from '../support/program.ts';
import { json, loseReply } from '../support/server.ts';

/** The JSON that a program prints when it is given a client. */
async function outputOf(source: string, env: Record<string, string>): Promise<unknown> {
  const whole = `
    import { createClient } from 'esign-cli/client';
    const esign = createClient({ baseUrl: process.env.ESIGN_BASE_URL, apiKey: process.env.ESIGN_API_KEY });
    const outputOf = await (async () => { ${source} })();
    console.log(JSON.stringify(outputOf));`;
  return parseJson(await program(whole, env));
}

async function examplesOfPage(): Promise<string[]> {
  const page = await readFile(join(import.meta.dirname, '../../docs/client.md'), 'utf8');
  return [...page.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
}

// A standalone executable has no package.
describe.skipIf(PACKAGE === undefined)('the client for programs', () => {
  const home = new Home();
  let env: Record<string, string>;
  beforeAll(async () => {
    const { baseUrl, apiKey } = await home.sandbox();
    env = { ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
  });

  it('works as documented on its page', async () => {
    const printed = [];
    const once = (await examplesOfPage()).filter((example) => !example.includes('.listen('));
    for (const example of once) printed.push(await program(example, env));
    expect(printed).toHaveLength(3);
    expect(printed[0]).toContain('tmpl_nda');
    expect(printed[1]).toBe('SENT reply\n');
    expect(printed[2]).toBe('envelope not found\n');
    expect(await program(once[1] ?? '', env)).toBe('SENT earlier\n');
  });

  it('receives webhooks as documented on its page', async () => {
    const example = (await examplesOfPage()).find((one) => one.includes('.listen(')) ?? '';
    const printed = await program(
      `${example.replace('4242', '0')}
       import { createHmac } from 'node:crypto';
       import { once } from 'node:events';
       await once(server, 'listening');
       const url = 'http://127.0.0.1:' + server.address().port;
       const body = JSON.stringify({ event: 'envelope.completed', data: { envelopeId: 'env_1' } });
       const signature = createHmac('sha256', process.env.ESIGN_WEBHOOK_SECRET).update(body).digest('hex');
       const post = async (headers) => (await fetch(url, { method: 'POST', body, headers })).status;
       console.log(await post({ 'x-service-signature': signature }), await post({ 'x-service-signature': 'f'.repeat(64) }), await post({}));
       server.close();
       server.closeAllConnections();`,
      { ESIGN_WEBHOOK_SECRET: 'whsec_0123456789abcdef' },
    );
    expect(printed).toBe('env_1 is complete\n200 401 401\n');
  });

  it('takes an envelope from draft to canceled, and reports the outcome of each step', async () => {
    const steps = await outputOf(
      `const signers = [{ name: 'Ada', email: 'ada@example.com' }];
       const made = await esign.envelopes.create({ templateId: 'tmpl_nda', signers });
       const { id } = made.envelope;
       const sent = await esign.envelopes.send(id);
       const reminded = await esign.envelopes.remind(id, { signer: 'ada@example.com' });
       const cancelled = await esign.envelopes.cancel(id, { reason: 'a test' });
       const read = await esign.envelopes.get(id);
       return [made, sent, reminded, cancelled].map((one) => [one.kind, one.by]).concat([[read.status, made.requestId.length]]);`,
      env,
    );
    expect(steps).toEqual([...Array<string[]>(4).fill(['settled', 'reply']), ['CANCELLED', 36]]);
  });

  it('requests no more pages than needed', async () => {
    const service = await fakeService((request, response) =>
      answerPage(request, response, 1_000, (index) => ({ id: `env_${index}` })),
    );
    const ids = await outputOf(
      `const ids = [];
       for await (const { id } of esign.envelopes.list({ pageSize: 10 })) if (ids.push(id) === 15) break;
       return ids;`,
      service.env,
    );
    expect(ids).toHaveLength(15);
    expect(service.server.seen.map(({ query }) => query.get('page'))).toEqual(['1', '2']);
    expect(service.server.seen[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'user-agent': 'esign-cli-client',
    });
  });

  /** Creates with `options` while every response to a create is lost. Returns the outcome and the bodies that arrived. */
  async function createInVain(options: Record<string, string>) {
    const service = await fakeService((request, response) =>
      request.method === 'POST' ? loseReply(response) : answerPage(request, response, 0, () => undefined),
    );
    const outcome = await outputOf(
      `const signers = [{ name: 'Ada', email: 'ada@example.com' }];
       const { kind, error, requestId } =
         await esign.envelopes.create({ templateId: 't', signers, send: true }, ${JSON.stringify(options)});
       return { kind, code: error.code, requestId };`,
      service.env,
    );
    const created = service.server.seen.filter(({ method }) => method === 'POST');
    expect(created.filter(({ path }) => !path.endsWith('/envelopes'))).toEqual([]);
    return { outcome, bodies: created.map(({ body }) => parseJson(body)) };
  }

  it('returns "unknown" when responses are lost, and has created only drafts for a request ID', async () => {
    const { outcome, bodies } = await createInVain({ requestId: 'mine' });
    expect(outcome).toEqual({ kind: 'unknown', code: 'NETWORK', requestId: 'mine' });
    for (const body of bodies) {
      expect(body).toMatchObject({ metadata: { esignRequestId: 'mine' } });
      expect(body).not.toHaveProperty('sendImmediately');
    }
  });

  it('returns "unknown" when a response is lost and a search finds nothing, and creates only once without a request ID', {
    tags: ['full'],
    timeout: 180_000,
  }, async () => {
    const { outcome, bodies } = await createInVain({});
    expect(outcome).toMatchObject({ kind: 'unknown', code: 'NETWORK' });
    expect(bodies).toMatchObject([{ sendImmediately: true }]);
  });

  it('refuses invalid input before anything is sent, and never shows the key', async () => {
    const service = await fakeService((_request, response) =>
      json(response, 401, { error: { code: 'UNAUTHORIZED', message: 'no' } }),
    );
    const refusals = await outputOf(
      `const { createClient: make, UsageError } = await import('esign-cli/client');
       const base = process.env.ESIGN_BASE_URL;
       const tries = [{ baseUrl: 'http://example.com', apiKey: 'k' }, { baseUrl: base, apiKey: 'sk_\\nx' }, { baseUrl: base, apiKey: '' },
         { baseUrl: base, apiKey: undefined }, { baseUrl: undefined, apiKey: 'k' }, undefined,
         { baseUrl: base, apiKey: 'k', statedir: '/var/lib/esign' }];
       return tries.map((options) => { try { make(options); } catch (error) { return error instanceof UsageError; } });`,
      service.env,
    );
    const error = await outputOf(
      `try { await esign.templates.get('t'); } catch (error) { return { ...error, name: error.name, stack: error.stack }; }`,
      service.env,
    );
    expect(refusals).toEqual(Array(7).fill(true));
    expect(service.server.seen.map(({ method }) => method)).toEqual(['GET']);
    if (!isRecord(error)) throw new Error('no error');
    expect(error).toMatchObject({ name: 'ServiceError', code: 'UNAUTHORIZED', status: 401 });
    expect(JSON.stringify(error)).not.toContain(KEY);
  });

  it('refuses fields that would be ignored or misread, because the wrong people, or nobody, would be emailed', async () => {
    const service = await fakeService((_request, response) => json(response, 500, {}));
    const errors = await outputOf(
      `const body = { templateId: 'tmpl_nda', signers: [{ name: 'Ada', email: 'ada@example.com' }] };
       const tries = [[{ ...body, sendImmediately: true }], [{ ...body, send: true }, { requestID: 'order-1' }],
         [{ ...body, send: 'false' }], [{ templateId: 'tmpl_nda' }]];
       return Promise.all(tries.map((args) => esign.envelopes.create(...args).catch(({ name, message }) => [name, message])));`,
      service.env,
    );
    await service.server.close();
    expect(errors).toEqual([
      ['UsageError', 'A new envelope has no field "sendImmediately".'],
      ['UsageError', 'envelopes.create has no option "requestID".'],
      ['UsageError', 'A new envelope requires send as a boolean, but got a string.'],
      ['UsageError', 'A new envelope requires signers as an array, but got undefined.'],
    ]);
    expect(service.server.seen).toEqual([]);
  });
});
