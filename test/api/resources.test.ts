import { describe, expect, it } from 'vitest';
import type { SendRequest } from '../../src/api/http.ts';
import { createResources } from '../../src/api/resources.ts';
import { collectAll } from '../../src/kernel/streams.ts';

const rate = { limit: undefined, remaining: undefined, resetAt: undefined, retryAfterMs: undefined };
const BODY = { templateId: 'tmpl_1', signers: [] };

/** The endpoints of a service whose envelopes have these fields. */
function envelopesWith(fields: object) {
  const envelope = { status: 'DRAFT', ...fields, id: 'env_1' };
  const send: SendRequest = ({ method, path }) => {
    const isList = method === 'GET' && path.endsWith('/envelopes');
    return Promise.resolve({ status: 200, body: { data: isList ? [envelope] : envelope }, rate });
  };
  return createResources(send).envelopes;
}

describe('the metadata of an envelope', () => {
  it.each([
    ['an empty list, which PHP writes for an empty object', { metadata: [] }, { metadata: {} }],
    ['an object', { metadata: { a: [] } }, { metadata: { a: [] } }],
    ['null', { metadata: null }, { metadata: null }],
    ['missing', {}, {}],
  ])('can be %s', async (_, sent, read) => {
    const envelopes = envelopesWith(sent);
    const [listed] = await collectAll(envelopes.list());
    const [paged] = (await envelopes.page(1)).items;
    const others = [
      await envelopes.get('env_1'),
      await envelopes.create(BODY),
      await envelopes.send('env_1'),
      await envelopes.cancel('env_1'),
      await envelopes.remind('env_1'),
    ];
    for (const one of [listed, paged, ...others])
      expect(one).toStrictEqual({ status: 'DRAFT', ...read, id: 'env_1' });
  });

  it.each([[['a']], ['text'], [1]])("can't be %j", async (metadata) => {
    const reading = envelopesWith({ metadata }).get('env_1');
    await expect(reading).rejects.toMatchObject({ code: 'BAD_RESPONSE' });
  });
});
