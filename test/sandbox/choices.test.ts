import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { UsageError } from '../../src/kernel/errors.ts';
import { CHOICES } from '../../src/sandbox/service/base/choices.ts';
import { eventually } from '../support/eventually.ts';
import { newFolder } from '../support/folder.ts';
import { startReceiver } from './receiver.ts';
import { ada, bob, envelopeShape, errorIn, listIn, type Rig, startRig, twoSigners } from './rig.ts';

const started = (choices: Record<string, string>) => startRig({ choices });
const action = (rig: Rig, id: string, what: string, body?: unknown) =>
  rig.api('POST', `/esign/envelopes/${id}/${what}`, body);

test('An invalid choice at start is a UsageError with the closest or the allowed ones, and the folder stays free', async () => {
  const dataDir = newFolder();
  const start = (choices: Record<string, string>) => startRig({ dataDir, choices });
  await expect(start({ 'action-replay': 'success' })).rejects.toThrow(UsageError);
  await expect(start({ 'action-replay': 'success' })).rejects.toThrow(/"action-replay"; .* action-reply\?/);
  await expect(start({ 'list-items': 'ful' })).rejects.toThrow(/list-items .*"ful": .* full, summary\./);
  expect((await start({})).service.orgId).toMatch(/^org_/);
});

test('list-items: summary omits signers, message, metadata, webhookUrl, and keys only in the list', async () => {
  const rig = await started({ 'list-items': 'summary' });
  const envelope = await rig.create({ metadata: { a: 1 } });
  const { data } = listIn(await rig.api('GET', '/esign/envelopes'));
  const { id, templateId, templateName, status, signingOrder, subject } = envelope;
  const { expiresAt, createdAt, sentAt, completedAt } = envelope;
  expect(data).toEqual([
    {
      id,
      templateId,
      templateName,
      status,
      signingOrder,
      subject,
      expiresAt,
      createdAt,
      sentAt,
      completedAt,
    },
  ]);
  expect(await rig.get(id)).toEqual(envelope);
});

test('action-reply: success answers send, cancel, and remind with {"data":{"success":true}}', async () => {
  const rig = await started({ 'action-reply': 'success' });
  const { id } = await rig.create();
  for (const [what, status] of [
    ['send', 'SENT'],
    ['remind', 'SENT'],
    ['cancel', 'CANCELLED'],
  ] as const) {
    const reply = await action(rig, id, what);
    expect([reply.status, reply.body]).toEqual([200, { data: { success: true } }]);
    expect((await rig.get(id)).status).toBe(status);
  }
  expect(errorIn(await action(rig, id, 'send')).is).toBe('400 INVALID_STATE');
});

test('action-reply: empty204 answers them with 204 and no body, with rate headers', async () => {
  const rig = await started({ 'action-reply': 'empty204' });
  const { id } = await rig.create();
  for (const what of ['send', 'remind', 'cancel']) {
    const reply = await action(rig, id, what);
    expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([204, '', null]);
    expect(reply.headers.get('x-ratelimit-limit')).toBe('10000');
  }
  expect((await rig.get(id)).status).toBe('CANCELLED');
});

/** A service with one request per 10 s, which gets its first request at :00.250 and the next at :03.250. */
async function limitedRig(choices: Record<string, string>) {
  let now = Date.parse('2026-03-01T00:00:00.250Z');
  const clock: Clock = { ...systemClock, now: () => now };
  const rig = await startRig({ clock, choices, rateLimit: { requests: 1, seconds: 10 } });
  await rig.api('GET', '/esign/templates');
  now += 3_000;
  return async () => {
    const { status, headers } = await rig.api('GET', '/esign/templates');
    return [status, headers.get('retry-after'), headers.get('x-ratelimit-reset')];
  };
}
const RESET = Date.parse('2026-03-01T00:00:10.000Z');

test('retry-after: on adds Retry-After in seconds to a 429, off does not', async () => {
  const reset = String(Math.ceil(RESET / 1000));
  expect(await (await limitedRig({}))()).toEqual([429, null, reset]);
  expect(await (await limitedRig({ 'retry-after': 'on' }))()).toEqual([429, '7', reset]);
});

test('rate-headers: milliseconds has exactly the same time; missing leaves the headers out', async () => {
  expect(await (await limitedRig({ 'rate-headers': 'milliseconds' }))()).toEqual([429, null, String(RESET)]);
  expect(await (await limitedRig({ 'rate-headers': 'missing' }))()).toEqual([429, null, null]);
});

test('list-total: missing leaves out the totals of a list', async () => {
  const rig = await started({ 'list-total': 'missing' });
  await rig.create();
  const { body } = await rig.api('GET', '/esign/envelopes');
  expect(body).toMatchObject({ data: [{}], meta: { pagination: { page: 1, pageSize: 20 } } });
  expect(JSON.stringify(body)).not.toContain('total');
});

test('template-roles: shown is the default; hidden omits fields that the document does not have', async () => {
  const rig = await startRig();
  const [template] = listIn(await rig.api('GET', '/esign/templates')).data;
  expect(template).toMatchObject({ roles: ['Tenant', 'Landlord'] });
  const one = await rig.api('GET', '/esign/templates/tmpl_lease');
  const { fields } = z
    .object({ data: z.object({ fields: z.array(z.looseObject({})) }) })
    .parse(one.body).data;
  expect(fields[0]).toMatchObject({ fieldId: 'tenant_sig', role: 'Tenant' });
  expect(fields.at(-1)).toMatchObject({ fieldId: 'landlord_sig', role: 'Landlord' });
  const hidden = await started({ 'template-roles': 'hidden' });
  expect((await hidden.api('GET', '/esign/templates')).text).not.toMatch(/"roles?"/);
});

test('signer-statuses: unknown shows statuses that no client knows; SENT and SIGNED stay', async () => {
  const rig = await started({ 'signer-statuses': 'unknown' });
  const words = async (path: string, method = 'GET') => {
    const { body } = await rig.api(method, path);
    const shape = z.object({ data: z.object({ signers: z.array(z.object({ status: z.string() })) }) });
    return shape.parse(body).data.signers.map((one) => one.status);
  };
  const made = await rig.api('POST', '/esign/envelopes', { ...twoSigners, signingOrder: 'SEQUENTIAL' });
  const { id } = z.object({ data: z.object({ id: z.string() }) }).parse(made.body).data;
  const path = `/esign/envelopes/${id}`;
  expect(await words(path)).toEqual(['AWAITING_TURN', 'AWAITING_TURN']);
  expect(await words(`${path}/send`, 'POST')).toEqual(['SENT', 'AWAITING_TURN']);
  await rig.control('POST', `/envelopes/${id}/view`);
  expect(await words(path)).toEqual(['DELIVERED', 'AWAITING_TURN']);
  await rig.control('POST', `/envelopes/${id}/sign`);
  expect(await words(path)).toEqual(['SIGNED', 'SENT']);
});

test('payload: type sends {id, type, createdAt, data}; retries and replays keep the ID', async () => {
  const receiver = await startReceiver((nth) => (nth === 1 ? 500 : 200));
  const rig = await started({ payload: 'type' });
  const { id, sentAt } = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  await receiver.count(1);
  await eventually(async () => {
    await rig.control('POST', '/clock/advance', { ms: 10_000 });
    expect(receiver.received.length).toBeGreaterThan(1);
  });
  const [one, two] = receiver.received;
  const eventId = /^\{"id":"(evt_\w+)"/.exec(one?.raw ?? '')?.[1];
  expect(one?.raw).toBe(
    JSON.stringify({
      id: eventId,
      type: 'envelope.sent',
      createdAt: sentAt,
      data: { envelopeId: id, status: 'SENT' },
    }),
  );
  expect(two?.raw).toBe(one?.raw);
});

test('signature: prefixed puts sha256= before the hex', async () => {
  const receiver = await startReceiver();
  const rig = await started({ signature: 'prefixed' });
  const webhookSecret = 'correct horse battery';
  await rig.create({ sendImmediately: true, webhookUrl: receiver.url, webhookSecret });
  await receiver.count(1);
  const [one] = receiver.received;
  const hex = createHmac('sha256', webhookSecret)
    .update(one?.raw ?? '')
    .digest('hex');
  expect(one?.headers['x-service-signature']).toBe(`sha256=${hex}`);
});

test('finalisation: delayed keeps a fully signed envelope IN_PROGRESS, and completes it with documents 5 s later', async () => {
  const receiver = await startReceiver();
  const rig = await started({ finalisation: 'delayed' });
  const { id } = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  const waiting = await rig.act(id, 'sign', { all: true });
  expect(waiting).toMatchObject({ status: 'IN_PROGRESS', completedAt: null, signedDocumentStorageKey: null });
  expect(waiting.signers.map((one) => one.status)).toEqual(['SIGNED', 'SIGNED']);
  expect(errorIn(await action(rig, id, 'remind')).message).toBe('No signer is pending');
  await rig.control('POST', '/clock/advance', { ms: 4_000 });
  expect((await rig.get(id)).status).toBe('IN_PROGRESS');
  await rig.control('POST', '/clock/advance', { ms: 1_000 });
  const done = await rig.get(id);
  expect(done.status).toBe('COMPLETED');
  const last = Math.max(...done.signers.map((one) => Date.parse(one.signedAt ?? '')));
  expect(Date.parse(done.completedAt ?? '') - last).toBe(5_000);
  expect(rig.objects.text(done.signedDocumentStorageKey)).toMatch(/^%PDF-1.7 signed/);
  await receiver.count(6);
  expect(receiver.events().slice(-2)).toEqual(['envelope.signed', 'envelope.completed']);
});

test('With every switch at its other value, an envelope still runs from creation to completion', async () => {
  const others = Object.entries(CHOICES).map(([name, [, other]]): [string, string] => [name, other]);
  const rig = await started(Object.fromEntries(others));
  const made = await rig.api('POST', '/esign/envelopes', { ...twoSigners, signers: [ada, bob] });
  const { id } = z.object({ data: z.object({ id: z.string() }) }).parse(made.body).data;
  await action(rig, id, 'send');
  await rig.control('POST', `/envelopes/${id}/sign`, { all: true });
  await rig.control('POST', '/clock/advance', { ms: 5_000 });
  expect(envelopeShape.parse(await rig.get(id)).status).toBe('COMPLETED');
});
