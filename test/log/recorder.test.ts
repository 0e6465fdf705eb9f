import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { logFolder } from '../../src/log/log-folder.ts';
import { readLog } from '../../src/log/read-log.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { newFolder } from '../support/folder.ts';
import { gateFor, memoryOf } from '../support/recording.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

let service: TestServer;
let machine: string;
let answer: (response: ServerResponse) => void;
beforeEach(async () => {
  service = await startServer((_, response) => answer(response));
  machine = newFolder();
});

/** A client on this machine. */
function connect(apiKey = 'sk_test_0123456789') {
  const clock = fakeClock();
  const gate = async () => gateFor(memoryOf(machine, clock), `${service.origin}/api/v1`, clock);
  return clientFor(service.origin, { clock, gate, apiKey });
}
const entries = () => readLog(logFolder(machine));
const BODY = { templateId: 'tmpl_nda', signers: [{ email: 'a@b.cd', name: 'A' }] };

describe('a create whose response has no envelope', () => {
  it.each([
    ['nothing', 204, undefined],
    ['nothing, accepted', 202, undefined],
    ['an empty object', 202, { data: {} }],
    ['null', 201, { data: null }],
    ['a number as the ID', 201, { data: { id: 4711 } }],
    ['an empty ID', 201, { data: { id: '' } }],
    ['an ID that would be a flag', 201, { data: { id: '--yes' } }],
    ['an endless ID', 201, { data: { id: 'x'.repeat(501) } }],
    ['an error', 201, { data: { id: 'env_1' }, error: { code: 'VALIDATION_ERROR' } }],
  ])('has an unknown outcome until it is found: %s', async (_, status, body) => {
    answer = (response) =>
      body === undefined ? void response.writeHead(status).end() : json(response, status, body);
    const client = connect();
    const metadata = { esignRequestId: 'order-1' };
    await client.envelopes.create({ ...BODY, metadata }).catch(() => undefined);
    expect(await entries()).toMatchObject([{ state: 'unknown', envelopeIds: [] }]);
    await (await client.writes()).resolve('order-1', 'env_9');
    expect(await entries()).toMatchObject([{ state: 'done', envelopeIds: ['env_9'] }]);
  });
});

describe('an entry of the log', () => {
  it('names the account, which differs for another key at the same address', async () => {
    answer = (response) => json(response, 201, { data: { id: 'env_1' } });
    const [one, other] = [connect('sk_one_0123456789'), connect('sk_other_0123456789')];
    await one.envelopes.create(BODY);
    await one.envelopes.create(BODY);
    await other.envelopes.create(BODY);
    const accounts = (await entries()).map(({ intent }) => intent.account);
    expect(accounts).toEqual([one.account, one.account, other.account]);
    expect(one.account).not.toBe(other.account);
    expect(accounts.join()).not.toMatch(/sk_|0123456789/);
  });

  it.each([['Ab+/9=='], ['4711'], ['a b'], ['ümlaut/\u001b[31m'], ['x'.repeat(500)]])(
    'stores any envelope ID: %j',
    async (id) => {
      answer = (response) => json(response, 201, { data: { id } });
      await connect().envelopes.create(BODY);
      expect(await entries()).toMatchObject([{ state: 'done', envelopeIds: [id] }]);
    },
  );
});
