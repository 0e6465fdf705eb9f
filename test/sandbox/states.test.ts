import { expect, test } from 'vitest';
import { startReceiver } from './receiver.ts';
import {
  ada,
  bob,
  DAY,
  deliveriesOf,
  type Envelope,
  envelopeIn,
  errorIn,
  mailsOf,
  type Rig,
  startRig,
} from './rig.ts';

const carol = { email: 'carol@example.com', name: 'Carol Shaw' };
const webhookUrl = 'http://127.0.0.1:9/nobody';

const statuses = (envelope: Envelope) => envelope.signers.map((signer) => signer.status);
const eventsOf = async (rig: Rig, id: string) => (await deliveriesOf(rig, id)).map((one) => one.event);
const mailKinds = async (rig: Rig, id: string) =>
  (await mailsOf(rig, id)).map((mail) => `${mail.kind} ${mail.to.split('@')[0] ?? ''}`);
const action = (rig: Rig, id: string, what: string, body?: unknown) =>
  rig.api('POST', `/esign/envelopes/${id}/${what}`, body);

/** An envelope that is brought into a status by public requests. */
async function inStatus(rig: Rig, status: Envelope['status']): Promise<Envelope> {
  const draft = await rig.create({ webhookUrl, expiresInDays: 2 });
  if (status === 'DRAFT') return draft;
  await action(rig, draft.id, 'send');
  if (status === 'IN_PROGRESS') await rig.act(draft.id, 'sign');
  if (status === 'COMPLETED') await rig.act(draft.id, 'sign', { all: true });
  if (status === 'CANCELLED') await action(rig, draft.id, 'cancel');
  if (status === 'DECLINED') await rig.act(draft.id, 'decline');
  if (status === 'EXPIRED') await rig.control('POST', '/clock/advance', { ms: 2 * DAY });
  const envelope = await rig.get(draft.id);
  expect(envelope.status).toBe(status);
  return envelope;
}

test('A create with sendImmediately is SENT, with sentAt and the event envelope.sent', async () => {
  const rig = await startRig();
  const envelope = await rig.create({ sendImmediately: true, webhookUrl });
  expect(envelope.status).toBe('SENT');
  expect(envelope.sentAt).toBe(envelope.createdAt);
  expect(statuses(envelope)).toEqual(['SENT', 'SENT']);
  expect(await eventsOf(rig, envelope.id)).toEqual(['envelope.sent']);
});

test('A create without sendImmediately is a DRAFT, and no signer is notified', async () => {
  const rig = await startRig();
  const envelope = await rig.create({ webhookUrl });
  expect([envelope.status, envelope.sentAt]).toEqual(['DRAFT', null]);
  expect(await mailsOf(rig, envelope.id)).toEqual([]);
  expect(await eventsOf(rig, envelope.id)).toEqual([]);
});

test('Sending a DRAFT makes it SENT, creates envelope.sent, and emails the signers their own links', async () => {
  const rig = await startRig();
  const { id } = await rig.create({ webhookUrl, message: 'Before Friday' });
  const reply = await action(rig, id, 'send');
  expect(reply.status).toBe(200);
  const sent = envelopeIn(reply);
  expect([sent.status, statuses(sent), sent.sentAt !== null]).toEqual(['SENT', ['SENT', 'SENT'], true]);
  expect(await rig.get(id)).toEqual(sent);
  expect(await eventsOf(rig, id)).toEqual(['envelope.sent']);
  const mails = await mailsOf(rig, id);
  expect(mails.map((mail) => mail.to)).toEqual([ada.email, bob.email]);
  const links = mails.map((mail) => /http:\/\/\S+\/sign\/\w{40,}/.exec(mail.text)?.[0]);
  expect(new Set(links).size).toBe(2);
  expect(mails[0]?.text).toContain('Before Friday');
});

test('Canceling an active envelope, a draft, or a declined one makes it CANCELLED and creates envelope.cancelled', async () => {
  const rig = await startRig();
  for (const status of ['DRAFT', 'SENT', 'IN_PROGRESS', 'DECLINED'] as const) {
    const { id } = await inStatus(rig, status);
    const cancelled = envelopeIn(await action(rig, id, 'cancel', { reason: 'Sold' }));
    expect([status, cancelled.status]).toEqual([status, 'CANCELLED']);
    expect((await eventsOf(rig, id)).at(-1)).toBe('envelope.cancelled');
  }
});

test('A signature while others are pending makes a SENT envelope IN_PROGRESS and creates envelope.signed', async () => {
  const rig = await startRig();
  const { id } = await inStatus(rig, 'SENT');
  const envelope = await rig.act(id, 'sign', { signer: bob.email });
  expect([envelope.status, statuses(envelope)]).toEqual(['IN_PROGRESS', ['SENT', 'SIGNED']]);
  expect(envelope.signers[1]?.signedAt).not.toBeNull();
  expect(envelope).toMatchObject({
    completedAt: null,
    signedDocumentStorageKey: null,
    certificateStorageKey: null,
  });
  expect(await eventsOf(rig, id)).toEqual(['envelope.sent', 'envelope.viewed', 'envelope.signed']);
});

test('The last signature completes an envelope: it creates envelope.completed, sets both keys and completedAt, and stores both files', async () => {
  const rig = await startRig();
  const { id } = await inStatus(rig, 'IN_PROGRESS');
  const envelope = await rig.act(id, 'sign');
  const folder = `esign/envelopes/${rig.service.orgId}/${id}`;
  expect(envelope).toMatchObject({
    status: 'COMPLETED',
    signedDocumentStorageKey: `${folder}/signed.pdf`,
    certificateStorageKey: `${folder}/certificate.pdf`,
  });
  expect(envelope.completedAt).toBe(envelope.signers[1]?.signedAt);
  expect(await eventsOf(rig, id)).toEqual([
    'envelope.sent',
    'envelope.viewed',
    'envelope.signed',
    'envelope.viewed',
    'envelope.signed',
    'envelope.completed',
  ]);
  expect(rig.objects.text(envelope.signedDocumentStorageKey)).toContain(
    'signed COMPLETED %PDF-1.7 document of tmpl_lease',
  );
  expect(rig.objects.text(envelope.certificateStorageKey)).toMatch(
    /certificate env_\w+ [0-9a-f]{64} [0-9a-f]{64}$/,
  );
});

test("An active envelope expires at expiresAt, with envelope.expired at that time; a draft doesn't expire", async () => {
  const rig = await startRig();
  const sent = await rig.create({ sendImmediately: true, webhookUrl, expiresInDays: 5 });
  const draft = await rig.create({ expiresInDays: 5 });
  await rig.control('POST', '/clock/advance', { ms: 5 * DAY - 60_000 });
  expect((await rig.get(sent.id)).status).toBe('SENT');
  await rig.control('POST', '/clock/advance', { ms: DAY });
  expect((await rig.get(sent.id)).status).toBe('EXPIRED');
  expect((await rig.get(draft.id)).status).toBe('DRAFT');
  expect(await eventsOf(rig, sent.id)).toEqual(['envelope.sent', 'envelope.expired']);
  const error = errorIn(await rig.control('POST', `/envelopes/${sent.id}/sign`));
  expect(error.is).toBe('400 INVALID_STATE');
  expect(await mailKinds(rig, sent.id)).toEqual(['request ada', 'request bob', 'expired ada', 'expired bob']);
});

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

test('SEQUENTIAL asks signers with the lowest order first, equal orders together, and the next ones when all of them have signed', async () => {
  const rig = await startRig();
  const { id } = await rig.create({
    signingOrder: 'SEQUENTIAL',
    sendImmediately: true,
    webhookUrl,
    signers: [
      { ...carol, order: 2 },
      { ...ada, order: 1 },
      { ...bob, order: 1 },
    ],
  });
  expect(statuses(await rig.get(id))).toEqual(['PENDING', 'SENT', 'SENT']);
  const early = errorIn(await rig.control('POST', `/envelopes/${id}/sign`, { signer: carol.email }));
  expect([early.is, early.message]).toEqual([
    '400 INVALID_STATE',
    expect.stringMatching(/Carol Shaw.*Ada Lovelace/),
  ]);
  for (const what of ['view', 'decline'])
    expect(errorIn(await rig.control('POST', `/envelopes/${id}/${what}`, { signer: carol.email })).is).toBe(
      '400 INVALID_STATE',
    );
  expect(statuses(await rig.act(id, 'sign'))).toEqual(['PENDING', 'SIGNED', 'SENT']);
  expect(statuses(await rig.act(id, 'sign', { signer: bob.email }))).toEqual(['SENT', 'SIGNED', 'SIGNED']);
  expect((await rig.act(id, 'sign')).status).toBe('COMPLETED');
  expect(await mailKinds(rig, id)).toEqual([
    'request ada',
    'request bob',
    'request carol',
    'completed carol',
    'completed ada',
    'completed bob',
  ]);
});

test("A view makes a signer VIEWED and creates envelope.viewed once per signer, without changing the envelope's status", async () => {
  const rig = await startRig();
  const { id } = await inStatus(rig, 'SENT');
  await rig.act(id, 'view', { signer: ada.email });
  await rig.act(id, 'view', { signer: ada.email });
  const envelope = await rig.act(id, 'view', { signer: bob.email });
  expect([envelope.status, statuses(envelope)]).toEqual(['SENT', ['VIEWED', 'VIEWED']]);
  expect(await eventsOf(rig, id)).toEqual(['envelope.sent', 'envelope.viewed', 'envelope.viewed']);
});

test("A decline makes the envelope DECLINED immediately, creates envelope.declined, and doesn't change other signers", async () => {
  const rig = await startRig();
  const { id } = await inStatus(rig, 'IN_PROGRESS');
  const envelope = await rig.act(id, 'decline', { reason: 'Too expensive' });
  expect([envelope.status, statuses(envelope)]).toEqual(['DECLINED', ['SIGNED', 'DECLINED']]);
  expect(envelope.signers[1]).toMatchObject({ declineReason: 'Too expensive', signedAt: null });
  expect(envelope.signers[1]?.declinedAt).not.toBeNull();
  expect((await eventsOf(rig, id)).at(-1)).toBe('envelope.declined');
});

test('remind emails all pending signers, or only the one in signerId, and changes nothing else', async () => {
  const rig = await startRig();
  const before = await inStatus(rig, 'IN_PROGRESS');
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
