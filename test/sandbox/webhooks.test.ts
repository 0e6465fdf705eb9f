import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from './receiver.ts';
import { ada, bob, DAY, deliveriesOf, type Rig, startRig } from './rig.ts';

const secret = 'correct horse battery staple';

async function advance(rig: Rig, ms: number): Promise<void> {
  expect((await rig.control('POST', '/clock/advance', { ms })).status).toBe(200);
}

test('Each delivery is a POST of JSON with X-Service-Signature, the lowercase hex HMAC-SHA256 of the bytes sent', async () => {
  const receiver = await startReceiver();
  const rig = await startRig();
  const signers = [{ ...ada, name: 'Łucja 李' }];
  const { id } = await rig.create({
    signers,
    sendImmediately: true,
    webhookUrl: receiver.url,
    webhookSecret: secret,
  });
  await rig.act(id, 'sign');
  await receiver.count(4);
  expect(receiver.events()).toEqual([
    'envelope.sent',
    'envelope.viewed',
    'envelope.signed',
    'envelope.completed',
  ]);
  for (const { headers, raw } of receiver.received) {
    expect(headers['content-type']).toBe('application/json');
    expect(headers['x-service-signature']).toBe(
      createHmac('sha256', secret).update(raw, 'utf8').digest('hex'),
    );
  }
});

test('A delivery has no X-Service-Signature without a webhookSecret', async () => {
  const receiver = await startReceiver();
  const rig = await startRig();
  await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  await receiver.count(1);
  expect(receiver.received[0]?.headers).not.toHaveProperty('x-service-signature');
});

test('envelope.signed contains event, timestamp, and data with envelopeId, status IN_PROGRESS, and signer (id, email, name, signedAt)', async () => {
  const receiver = await startReceiver();
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  const done = await rig.act(id, 'sign', { all: true });
  await receiver.count(6);
  const signed = receiver.received.filter((one) => one.event === 'envelope.signed').map((one) => one.body);
  expect(signed).toEqual(
    done.signers.map((signer) => ({
      event: 'envelope.signed',
      timestamp: signer.signedAt,
      data: {
        envelopeId: id,
        status: 'IN_PROGRESS',
        signer: { id: signer.id, email: signer.email, name: signer.name, signedAt: signer.signedAt },
      },
    })),
  );
});

test('The other events have the same payload shape with their own data', async () => {
  const receiver = await startReceiver();
  const rig = await startRig();
  const first = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  const completed = await rig.act(first.id, 'sign', { all: true });
  await receiver.count(6);
  const second = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  const declined = await rig.act(second.id, 'decline', { signer: bob.email, reason: 'No' });
  await receiver.count(8);
  await rig.api('POST', `/esign/envelopes/${second.id}/cancel`, { reason: 'Sold' });
  await receiver.count(9);
  const data = (event: string) => receiver.received.find((one) => one.event === event)?.body.data;
  expect(data('envelope.sent')).toEqual({ envelopeId: first.id, status: 'SENT' });
  expect(data('envelope.viewed')).toMatchObject({ envelopeId: first.id, status: 'SENT', signer: { ...ada } });
  expect(data('envelope.completed')).toEqual({
    envelopeId: first.id,
    status: 'COMPLETED',
    completedAt: completed.completedAt,
    signers: completed.signers,
    documentStorageKey: completed.documentStorageKey,
    signedDocumentStorageKey: completed.signedDocumentStorageKey,
    certificateStorageKey: completed.certificateStorageKey,
  });
  expect(data('envelope.declined')).toMatchObject({
    status: 'DECLINED',
    signer: { ...bob, declinedAt: declined.signers[1]?.declinedAt, declineReason: 'No' },
  });
  expect(data('envelope.cancelled')).toEqual({ envelopeId: second.id, status: 'CANCELLED', reason: 'Sold' });
});

test('A 500 is retried after 10 s, 1 min, 5 min, 30 min, and 2 h of the sandbox clock with the same bytes, then fails', async () => {
  const receiver = await startReceiver(() => 500);
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true, webhookUrl: receiver.url, webhookSecret: secret });
  await receiver.count(1);
  for (const [tries, seconds] of [
    [2, 10],
    [3, 60],
    [4, 300],
    [5, 1800],
    [6, 7200],
  ] as const) {
    await advance(rig, seconds * 1000 - 5000);
    expect(receiver.received).toHaveLength(tries - 1);
    await advance(rig, 5000);
    expect(receiver.received).toHaveLength(tries);
  }
  const [delivery] = await deliveriesOf(rig, id);
  expect(delivery).toMatchObject({ state: 'failed', nextAttemptAt: null });
  expect(delivery?.attempts.map((attempt) => attempt.status)).toEqual(Array(6).fill(500));
  await advance(rig, 30 * DAY - 60_000_000);
  expect(
    new Set(receiver.received.filter((one) => one.event === 'envelope.sent').map((one) => one.raw)).size,
  ).toBe(1);
});

test('One long advance performs every retry at its own time', async () => {
  const receiver = await startReceiver((nth) => (nth < 4 ? 503 : 204));
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  await advance(rig, DAY);
  const [delivery] = await deliveriesOf(rig, id);
  expect(delivery?.state).toBe('delivered');
  expect(delivery?.attempts.map((attempt) => attempt.status)).toEqual([503, 503, 503, 204]);
  const times = delivery?.attempts.map((attempt) => Date.parse(attempt.at)) ?? [];
  const gaps = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / 10_000));
  expect(gaps).toEqual([1, 6, 30]);
});

test.each([301, 302, 307, 404])('A %i is not a success, and a redirect is not followed', async (status) => {
  const receiver = await startReceiver(() => status);
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  await eventually(async () => {
    const [delivery] = await deliveriesOf(rig, id);
    expect(delivery).toMatchObject({ state: 'pending', attempts: [{ status, error: null }] });
  });
  expect(receiver.received).toHaveLength(1);
});

test('close does not wait for a slow receiver, and pending deliveries are sent after a restart, in order', async () => {
  let slow = true;
  const receiver = await startReceiver(() => (slow ? null : 200));
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  await rig.act(id, 'sign', { all: true });
  await receiver.count(1);
  await rig.service.close();
  slow = false;
  const again = await startRig({ dataDir: rig.dataDir });
  await receiver.count(7);
  expect(receiver.events().slice(1)).toEqual([
    'envelope.sent',
    'envelope.viewed',
    'envelope.signed',
    'envelope.viewed',
    'envelope.signed',
    'envelope.completed',
  ]);
  await eventually(async () => {
    const states = (await deliveriesOf(again, id)).map((one) => one.state);
    expect(states).toEqual(Array(6).fill('delivered'));
  });
});
