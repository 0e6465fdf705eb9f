import { expect, test } from 'vitest';
import * as z from 'zod';
import { OPEN_POINTS } from '../../../src/kernel/open-points.ts';
import { EVENTS } from '../../../src/kernel/vocabulary.ts';
import { eventually } from '../../support/eventually.ts';
import { Contract } from './contract.ts';
import { startReceiver } from './receiver.ts';
import { ada, bob, DAY, literal, type Reply, type Rig, startRig, twoSigners } from './rig.ts';

/* Every complete response and event of the sandbox, compared with contract/openapi.yaml. */

/** Settings that contradict the document: the sandbox has them because they occur in practice. */
const AGAINST_THE_DOCUMENT = ['payload=type', 'signature=prefixed'];

const settings = Object.entries(OPEN_POINTS).flatMap(([name, { values }]) =>
  values.slice(1).map((value): [string, string] => [name, value]),
);
const allowed = settings.filter((pair) => !AGAINST_THE_DOCUMENT.includes(pair.join('=')));

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

/** These change the form of responses; the others are left to `npm run test:full`. */
const FORMS = ['list-items=summary', 'action-reply=success', 'template-roles=hidden'];

for (const [name, value] of [...allowed, ['template-roles', 'shown'] as const])
  test(`With ${name}=${value}, every response and event is still as described`, {
    tags: FORMS.includes(`${name}=${value}`) ? [] : ['full'],
  }, async () => {
    const contract = await Contract.read({ closed: `${name}=${value}` !== 'template-roles=shown' });
    const receiver = await startReceiver();
    const { rig, call } = await judged(contract, { choices: { [name]: value } });
    if (name === 'byob') {
      for (const [method, path] of routes('env_1')) expect((await call(method, path)).status).toBe(403);
      return;
    }
    await tour(rig, call, receiver.url);
    await refusals(rig, call);
    await receiver.count(4 + 1);
    expect(receiver.received.flatMap(({ raw }) => contract.problemsOf('Event', JSON.parse(raw)))).toEqual([]);
  });

test('Events are as described, with a signature as described', async () => {
  const contract = await Contract.read({ closed: true });
  const receiver = await startReceiver();
  const { rig, call } = await judged(contract);
  await tour(rig, call, receiver.url);
  await eventually(() => expect(new Set(receiver.events()).size).toBe(EVENTS.length));
  for (const { raw, headers, event } of receiver.received) {
    expect([event, contract.problemsOf('Event', JSON.parse(raw))]).toEqual([event, []]);
    expect(headers['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
  }
});

test('The two settings that contradict the document do contradict it', async () => {
  const contract = await Contract.read({ closed: true });
  const receiver = await startReceiver();
  const { rig, call } = await judged(contract, { choices: { payload: 'type', signature: 'prefixed' } });
  await tour(rig, call, receiver.url);
  await eventually(() => expect(receiver.events()).toContain('envelope.signed'));
  for (const { raw, headers } of receiver.received) {
    expect(contract.problemsOf('SignedEvent', JSON.parse(raw))).toContainEqual(
      expect.stringContaining('event'),
    );
    expect(headers['x-service-signature']).not.toMatch(/^[0-9a-f]{64}$/);
  }
});

test('The check detects what is wrong with a response', async () => {
  const contract = await Contract.read({ closed: true });
  const { call } = await judged(contract);
  const right = await call('POST', envelopes, twoSigners);
  const { data } = z.object({ data: z.record(z.string(), z.unknown()) }).parse(right.body);
  const { subject: _, ...less } = data;
  const problems = (change: Partial<Reply>, path = envelopes) =>
    contract.problemsIn('POST', path, { ...right, ...change });
  const error = (code: string) => ({ error: { code, message: 'No' } });
  const bare = new Headers({ 'content-type': 'application/json' });
  const given = (name: string, value: string) => {
    const headers = new Headers(right.headers);
    headers.set(name, value);
    return headers;
  };
  const wrong: [string[], RegExp][] = [
    [problems({ body: { data: less } }), /subject/],
    [problems({ body: { data: { ...data, mood: 'fine' } } }), /mood/],
    [problems({ body: { data: { ...data, webhookSecret: 'x' } } }), /webhookSecret/],
    [problems({ body: { data: { ...data, status: 'LOST' } } }), /status/],
    [problems({ body: { data: { ...data, createdAt: '2026-03-01T10:00:00+01:00' } } }), /createdAt/],
    [problems({ body: undefined }), /object/],
    [problems({ headers: given('content-type', 'text/html') }), /html/],
    [problems({ headers: bare }), /X-RateLimit-Limit is missing/],
    [problems({ headers: given('x-ratelimit-reset', 'soon') }), /X-RateLimit-Reset .*integer/],
    [problems({ status: 500 }), /has no 500/],
    [problems({ status: 404, body: error('INVALID_STATE') }), /does not belong to 404/],
    [problems({ status: 204 }, `${envelopes}/env_1/send`), /none is described/],
  ];
  for (const [found, says] of wrong) expect(found.join('\n')).toMatch(says);
});
