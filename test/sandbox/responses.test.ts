import { expect, test } from 'vitest';
import * as z from 'zod';
import { EVENTS } from '../../src/kernel/vocabulary.ts';
import { eventually } from '../support/eventually.ts';
import { Contract } from './contract.ts';
import { startReceiver } from './receiver.ts';
import { ada, bob, DAY, literal, type Reply, type Rig, startRig, twoSigners } from './rig.ts';

/* Every complete response and event of the sandbox, compared with contract/openapi.yaml. */

const idIn = (reply: Reply) => z.object({ data: z.object({ id: z.string() }) }).parse(reply.body).data.id;
const envelopes = '/esign/envelopes';
const everything = {
  ...twoSigners,
  signers: [
    { ...ada, role: 'Tenant', order: 1 },
    { ...bob, role: 'Landlord', order: 2 },
  ],
  subject: 'Your lease',
  message: 'Please sign.',
  metadata: { customer: 4711, deep: { list: [1, null, 'x'] } },
  webhookSecret: 'sixteen-or-longer',
  expiresInDays: 14,
  signingOrder: 'SEQUENTIAL',
};

/** A sandbox whose every response is judged immediately. */
async function judged(contract: Contract, options: Parameters<typeof startRig>[0] = {}) {
  const rig = await startRig({ ...options, choices: { ...literal, ...options.choices } });
  const call = async (method: string, path: string, body?: unknown, key?: string | null) => {
    const reply = await rig.api(method, path, body, key);
    expect(contract.problemsIn(method, path, reply)).toEqual([]);
    return reply;
  };
  return { rig, call };
}
type Call = Awaited<ReturnType<typeof judged>>['call'];

/** Everything that can happen to envelopes; each state is read alone and in the list. */
async function tour(rig: Rig, call: Call, webhookUrl: string): Promise<void> {
  await call('GET', '/esign/templates');
  await call('GET', '/esign/templates/tmpl_lease');
  const create = async (body: object) => idIn(await call('POST', envelopes, body));
  const read = async (id: string) => {
    await call('GET', `${envelopes}/${id}`);
    await call('GET', `${envelopes}?page=1&pageSize=100`);
  };
  const sent = { ...everything, webhookUrl };
  const [completed, declined, cancelled, expired] = [
    await create({ ...sent, sendImmediately: true }),
    await create(sent),
    await create({ ...sent, sendImmediately: true }),
    await create({ ...sent, sendImmediately: true }),
  ];
  await read(await create({ templateId: 'tmpl_nda', signers: [ada] }));
  await read(declined);
  await call('POST', `${envelopes}/${declined}/send`);
  for (const step of ['view', 'sign'])
    for (const _ of [ada, bob]) {
      await rig.control('POST', `/envelopes/${completed}/${step}`);
      await read(completed);
    }
  await rig.control('POST', `/envelopes/${completed}/sign`, { all: true });
  await rig.control('POST', '/clock/advance', { ms: 6_000 });
  await rig.control('POST', `/envelopes/${declined}/decline`, { reason: 'The rent is wrong' });
  await call('POST', `${envelopes}/${cancelled}/remind`);
  await call('POST', `${envelopes}/${cancelled}/cancel`, { reason: 'The flat is taken' });
  await rig.control('POST', '/clock/advance', { ms: 15 * DAY });
  for (const id of [completed, declined, cancelled, expired]) await read(id);
  expect(await Promise.all([completed, declined, cancelled, expired].map((id) => statusOf(rig, id)))).toEqual(
    ['COMPLETED', 'DECLINED', 'CANCELLED', 'EXPIRED'],
  );
}

async function statusOf(rig: Rig, id: string): Promise<string> {
  const reply = await rig.api('GET', `${envelopes}/${id}`);
  return z.object({ data: z.object({ status: z.string() }) }).parse(reply.body).data.status;
}

/** Every refusal of the API. */
async function refusals(rig: Rig, call: Call): Promise<void> {
  const id = idIn(await call('POST', envelopes, { ...twoSigners, sendImmediately: true }));
  await call('GET', '/esign/templates?page=0');
  await call('GET', `${envelopes}?pageSize=101`);
  await call('GET', `${envelopes}?status=LOST`);
  await call('POST', envelopes, { signers: [] });
  await call('POST', envelopes, { ...twoSigners, templateId: 'tmpl_missing' });
  await call('POST', `${envelopes}/${id}/send`);
  await call('POST', `${envelopes}/${id}/cancel`, { reason: 1 });
  await call('POST', `${envelopes}/${id}/remind`, { signerId: 1 });
  await call('GET', '/esign/templates/tmpl_missing');
  await call('GET', `${envelopes}/env_missing`);
  for (const action of ['send', 'cancel', 'remind']) await call('POST', `${envelopes}/env_missing/${action}`);
  const reader = await rig.makeKey({ scopes: ['esign:read'] });
  const writer = await rig.makeKey({ scopes: ['esign:write'] });
  for (const [method, path] of routes(id)) {
    await call(method, path, undefined, null);
    await call(method, path, undefined, method === 'GET' ? writer.key : reader.key);
  }
}

const routes = (id: string): [string, string][] => [
  ['GET', '/esign/templates'],
  ['GET', '/esign/templates/tmpl_lease'],
  ['GET', envelopes],
  ['POST', envelopes],
  ['GET', `${envelopes}/${id}`],
  ...['send', 'cancel', 'remind'].map((action): [string, string] => ['POST', `${envelopes}/${id}/${action}`]),
];

test('Every response of the contract occurs, and has exactly the described fields', async () => {
  const contract = await Contract.read({ closed: true });
  const receiver = await startReceiver();
  const { rig, call } = await judged(contract);
  await tour(rig, call, receiver.url);
  await refusals(rig, call);
  const terse = await judged(contract, { choices: { 'action-reply': 'empty204' } });
  await tour(terse.rig, terse.call, receiver.url);
  const narrow = await judged(contract, { quota: 0, rateLimit: { requests: 1, seconds: 900 } });
  await narrow.call('POST', envelopes, twoSigners);
  for (const [method, path] of routes('env_1')) await narrow.call(method, path);
  const unmet = [...contract.described.keys()].filter((name) => !contract.met.has(name));
  expect(unmet).toEqual([]);
});

test.each([
  {},
  {
    'list-items': 'summary',
    'action-reply': 'success',
    'signer-statuses': 'unknown',
    finalisation: 'delayed',
  },
])('Events are as described, with a signature as described, with the choices %j', async (choices) => {
  const contract = await Contract.read({ closed: true });
  const receiver = await startReceiver();
  const { rig, call } = await judged(contract, { choices });
  await tour(rig, call, receiver.url);
  await refusals(rig, call);
  await eventually(() => expect(new Set(receiver.events()).size).toBe(EVENTS.length));
  for (const { raw, headers, event } of receiver.received) {
    expect([event, contract.problemsOf('Event', JSON.parse(raw))]).toEqual([event, []]);
    expect(headers['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
  }
});
