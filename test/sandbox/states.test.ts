import { expect, test } from 'vitest';
import { startReceiver } from './receiver.ts';
import { ada, DAY, deliveriesOf, envelopeIn, errorIn, mailsOf, type Rig, startRig } from './rig.ts';

const webhookUrl = 'http://127.0.0.1:9/nobody';

const eventsOf = async (rig: Rig, id: string) => (await deliveriesOf(rig, id)).map((one) => one.event);
const mailKinds = async (rig: Rig, id: string) =>
  (await mailsOf(rig, id)).map((mail) => `${mail.kind} ${mail.to.split('@')[0] ?? ''}`);
const action = (rig: Rig, id: string, what: string, body?: unknown) =>
  rig.api('POST', `/esign/envelopes/${id}/${what}`, body);

test('advance creates expiry events in chronological order', async () => {
  const receiver = await startReceiver();
  const rig = await startRig();
  const days = [3, 1, 2];
  const ids: string[] = [];
  for (const expiresInDays of days)
    ids.push((await rig.create({ sendImmediately: true, expiresInDays, webhookUrl: receiver.url })).id);
  await receiver.count(3);
  const reply = await rig.control('POST', '/clock/advance', { ms: 10 * DAY });
  expect(reply.status).toBe(200);
  await receiver.count(6);
  const expired = receiver.received.slice(3).map((one) => one.body);
  const byTime = expired.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp));
  expect(byTime.map((one) => one.data.envelopeId)).toEqual([ids[1], ids[2], ids[0]]);
  for (const body of expired) {
    const envelope = await rig.get(String(body.data.envelopeId));
    expect(body.timestamp).toBe(envelope.expiresAt);
  }
});

test('remind emails all pending signers, or only the one in signerId, and changes nothing else', async () => {
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true });
  const before = await rig.act(id, 'sign');
  const [first, second] = before.signers;
  expect(envelopeIn(await action(rig, before.id, 'remind'))).toEqual(before);
  expect(envelopeIn(await action(rig, before.id, 'remind', { signerId: second?.id }))).toEqual(before);
  expect((await mailKinds(rig, before.id)).slice(2)).toEqual(['reminder bob', 'reminder bob']);
  expect(errorIn(await action(rig, before.id, 'remind', { signerId: first?.id })).is).toBe(
    '400 INVALID_STATE',
  );
  expect(errorIn(await action(rig, before.id, 'remind', { signerId: 'signer_none' })).is).toBe(
    '404 NOT_FOUND',
  );
});

test("A signature whose documents can't be created does not count", async () => {
  const { plainDocuments } = await import('./rig.ts');
  let broken = true;
  const documents = {
    ...plainDocuments,
    signed: (input: Parameters<typeof plainDocuments.signed>[0]) =>
      broken ? Promise.reject(new Error('no ink')) : plainDocuments.signed(input),
  };
  const rig = await startRig({ documents });
  const { id } = await rig.create({ signers: [ada], sendImmediately: true, webhookUrl });
  const reply = await rig.control('POST', `/envelopes/${id}/sign`);
  expect(errorIn(reply).is).toBe('500 INTERNAL_ERROR');
  expect(reply.text).toContain('no ink');
  expect((await rig.get(id)).status).toBe('SENT');
  expect(await eventsOf(rig, id)).toEqual(['envelope.sent']);
  broken = false;
  expect((await rig.act(id, 'sign')).status).toBe('COMPLETED');
});

test('Of 200 simultaneous requests, one wins: one send, and one signature of each signer', async () => {
  const rig = await startRig();
  const { id } = await rig.create({ webhookUrl });
  const many = Array.from({ length: 200 });
  const countOf = (replies: { status: number }[], status: number) =>
    replies.filter((reply) => reply.status === status).length;
  const sends = await Promise.all(many.map(() => action(rig, id, 'send')));
  expect([countOf(sends, 200), countOf(sends, 400)]).toEqual([1, 199]);
  const signs = await Promise.all(many.map(() => rig.control('POST', `/envelopes/${id}/sign`)));
  expect([countOf(signs, 200), countOf(signs, 400)]).toEqual([2, 198]);
  expect((await eventsOf(rig, id)).filter((event) => event === 'envelope.completed')).toHaveLength(1);
  expect(await mailsOf(rig, id)).toHaveLength(4);
});
