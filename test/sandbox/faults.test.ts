import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { UsageError } from '../../src/kernel/errors.ts';
import { type FaultSettings, Faults } from '../../src/sandbox/service/faults/faults.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from './receiver.ts';
import { ada, deliveriesOf, errorIn, listIn, type Rig, startRig, twoSigners } from './rig.ts';

const started = (faults: FaultSettings) => startRig({ faults });
const hitsOf = async (rig: Rig) => (await rig.control('GET', '/faults')).body;

/** Sends one request over a separate socket. Returns every byte of the response, and how the connection ended. */
function exchange(rig: Rig, method: string, path: string, body?: unknown) {
  const { hostname, port } = new URL(rig.service.origin);
  const text = body === undefined ? '' : JSON.stringify(body);
  const head = [
    `${method} /api/v1${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${rig.service.apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  return new Promise<{ bytes: string; ended: string }>((resolve) => {
    const socket = connect(Number(port), hostname);
    let bytes = '';
    let ended = 'closed';
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.toString();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      ended = error.code ?? error.message;
    });
    socket.on('close', () => resolve({ bytes, ended }));
    socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
  });
}

const countOf = async (rig: Rig) => listIn(await rig.api('GET', '/esign/envelopes')).meta.pagination.total;

test('lostReply processes the request and closes the connection without a response', async () => {
  const rig = await started({ lostReply: { match: 'POST /esign/envelopes', times: 1 } });
  expect(await exchange(rig, 'POST', '/esign/envelopes', twoSigners)).toEqual({ bytes: '', ended: 'closed' });
  expect(await countOf(rig)).toBe(1);
  expect((await rig.api('POST', '/esign/envelopes', twoSigners)).status).toBe(201);
  expect(await countOf(rig)).toBe(2);
  expect(await hitsOf(rig)).toMatchObject({ data: { hits: { lostReply: 1 } } });
});

test('reset resets the connection without processing the request', async () => {
  const rig = await started({ reset: { match: 'POST', times: 1 } });
  expect(await exchange(rig, 'POST', '/esign/envelopes', twoSigners)).toEqual({
    bytes: '',
    ended: 'ECONNRESET',
  });
  expect(await countOf(rig)).toBe(0);
  expect((await rig.api('POST', '/esign/envelopes', twoSigners)).status).toBe(201);
});

test('truncate processes the request and sends less than its Content-Length', async () => {
  const rig = await started({ truncate: { match: 'POST' } });
  const { bytes } = await exchange(rig, 'POST', '/esign/envelopes', twoSigners);
  const [head = '', body = ''] = bytes.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 201 /);
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
  expect(body.length).toBe(length >> 1);
  expect(body).toMatch(/^\{"data":\{"id":"env_/);
  expect(await countOf(rig)).toBe(1);
  await expect(rig.api('POST', '/esign/envelopes', twoSigners)).rejects.toThrow();
});

test('error500 responds with INTERNAL_ERROR in the error shape, and processes the request only with `done`', async () => {
  const rig = await started({ error500: { match: 'POST' } });
  const error = errorIn(await rig.api('POST', '/esign/envelopes', twoSigners));
  expect([error.is, await countOf(rig)]).toEqual(['500 INTERNAL_ERROR', 0]);
  await rig.control('POST', '/faults', { error500: { match: 'POST', done: true } });
  expect((await rig.api('POST', '/esign/envelopes', twoSigners)).status).toBe(500);
  expect(await countOf(rig)).toBe(1);
});

test('html502 responds with an HTML page instead of JSON, before or after processing', async () => {
  const rig = await started({ html502: { match: 'POST', done: true } });
  const reply = await rig.api('POST', '/esign/envelopes', twoSigners);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([502, 'text/html']);
  expect(reply.text).toMatch(/^<html>/);
  expect(await countOf(rig)).toBe(1);
  await rig.control('POST', '/faults', { html502: { match: 'POST' } });
  expect((await rig.api('POST', '/esign/envelopes', twoSigners)).status).toBe(502);
  expect(await countOf(rig)).toBe(1);
});

test('delay processes the request even if the client is gone, and closing ends the wait', async () => {
  const sleeping = new Set<number>();
  const clock: Clock = {
    now: () => Date.now(),
    sleep: (ms, signal) => {
      sleeping.add(ms);
      return systemClock.sleep(ms, signal).finally(() => sleeping.delete(ms));
    },
  };
  const rig = await startRig({ clock, faults: { delay: { ms: 3_600_000, match: 'POST' } } });
  const leaving = new AbortController();
  const reply = fetch(`${rig.service.origin}/api/v1/esign/envelopes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${rig.service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(twoSigners),
    signal: leaving.signal,
  });
  reply.catch(() => undefined);
  await eventually(() => expect(sleeping).toContain(3_600_000));
  leaving.abort();
  await expect(reply).rejects.toThrow();
  expect(await countOf(rig)).toBe(1);
  await rig.service.close();
  await eventually(() => expect(sleeping).not.toContain(3_600_000));
});

test('match selects a method and a path prefix, a final $ ends the path, and times and skip count matching requests', async () => {
  const rig = await startRig();
  const { id } = await rig.create();
  const statuses = async (settings: FaultSettings) => {
    expect((await rig.control('POST', '/faults', settings)).status).toBe(200);
    return [
      (await rig.api('GET', '/esign/templates')).status,
      (await rig.api('GET', '/esign/envelopes')).status,
      (await rig.api('GET', `/esign/envelopes/${id}`)).status,
      (await rig.api('POST', `/esign/envelopes/${id}/remind`, {})).status,
    ];
  };
  expect(await statuses({ error500: { match: '/esign/envelopes' } })).toEqual([200, 500, 500, 500]);
  expect(await statuses({ error500: { match: 'GET /esign/envelopes' } })).toEqual([200, 500, 500, 400]);
  expect(await statuses({ error500: { match: '/esign/envelopes$' } })).toEqual([200, 500, 200, 400]);
  expect(await statuses({ error500: { match: 'POST' } })).toEqual([200, 200, 200, 500]);
  expect(await statuses({ error500: { skip: 1, times: 2 } })).toEqual([200, 500, 500, 400]);
  expect(await statuses({ error500: { match: '/esign/envelopes', skip: 1 } })).toEqual([200, 200, 500, 500]);
});

test('rate gives the same faults for the same seed, others for another seed, at about the given rate', () => {
  const strikes = (seed: number) => {
    const faults = new Faults({ seed, reset: { rate: 0.25 } });
    return Array.from({ length: 4000 }, () => faults.forRequest('GET', '/x').answer === 'reset');
  };
  expect(strikes(7)).toEqual(strikes(7));
  expect(strikes(7)).not.toEqual(strikes(8));
  const share = strikes(7).filter(Boolean).length / 4000;
  expect(share).toBeGreaterThan(0.22);
  expect(share).toBeLessThan(0.28);
});

test('No fault affects the control plane, the web page, or the OpenAPI files', async () => {
  const rig = await started({ reset: {}, delay: { ms: 3_600_000 } });
  for (const path of ['/', '/keys', '/audit', '/deliveries', '/mails', '/faults'])
    expect((await rig.control('GET', path)).status).toBe(200);
  expect((await fetch(rig.service.origin)).status).toBe(200);
  expect((await fetch(`${rig.service.origin}/openapi.yaml`)).status).toBe(200);
});

test.each([
  [{ lostRepli: {} }, 'lostRepli'],
  [{ lostReply: { rate: 2 } }, 'lostReply.rate'],
  [{ lostReply: { match: 'esign' } }, 'lostReply.match'],
  [{ delay: {} }, 'delay.ms'],
  [{ webhooks: { error500: {} } }, 'webhooks.error500'],
  [{ webhooks: { drop: { match: 'envelope.gone' } } }, 'webhooks.drop.match'],
  [{ seed: -1 }, 'seed'],
  [[], 'body'],
])('Faults of %j are refused about %s, over HTTP and at start', async (settings, name) => {
  const rig = await startRig();
  const error = errorIn(await rig.control('POST', '/faults', settings));
  expect([error.is, Object.keys(error.details ?? {})]).toEqual(['400 VALIDATION_ERROR', [name]]);
  expect(() => new Faults(settings)).toThrow(UsageError);
  expect(() => new Faults(settings)).toThrow(name);
});

test('missingObject sets the key, and clients find the object later', async () => {
  const rig = await started({ missingObject: { ms: 200, match: 'signed' } });
  const { id } = await rig.create({ sendImmediately: true });
  const done = await rig.act(id, 'sign', { all: true });
  expect(await rig.objects.read(done.certificateStorageKey)).toMatch(/^%PDF/);
  expect(done.signedDocumentStorageKey).not.toBeNull();
  expect(await rig.objects.read(done.signedDocumentStorageKey)).toBeUndefined();
  await eventually(async () =>
    expect(await rig.objects.read(done.signedDocumentStorageKey)).toContain('document of tmpl_lease'),
  );
});

test('missingObject with reads finds nothing this many times, for any reader, and then the object', async () => {
  const rig = await started({ missingObject: { reads: 2, match: 'document' } });
  const { documentStorageKey: key } = await rig.create();
  const read = async () => (await rig.objects.read(key))?.slice(0, 4);
  expect([await read(), await read(), await read()]).toEqual([undefined, undefined, '%PDF']);
});

test('missingObject with ms and reads uses whichever comes first, and is refused without either', async () => {
  const rig = await started({ missingObject: { ms: 3_600_000, reads: 1 } });
  const { documentStorageKey: key } = await rig.create();
  expect(await rig.objects.read(key)).toBeUndefined();
  expect(await rig.objects.read(key)).toMatch(/^%PDF/);
  await rig.control('POST', '/faults', { missingObject: { ms: 1, reads: 1_000 } });
  const soon = await rig.create();
  await eventually(async () => expect(await rig.objects.read(soon.documentStorageKey)).toMatch(/^%PDF/));
  const error = errorIn(await rig.control('POST', '/faults', { missingObject: { times: 1 } }));
  expect([error.is, Object.keys(error.details ?? {})]).toEqual([
    '400 VALIDATION_ERROR',
    ['missingObject.ms'],
  ]);
});

const secret = 'correct horse battery staple';

/** A service with webhook faults, and one signed envelope: sent, viewed, signed, completed. */
async function delivered(webhooks: NonNullable<FaultSettings['webhooks']>) {
  const receiver = await startReceiver();
  const rig = await started({ webhooks });
  const body = { signers: [ada], sendImmediately: true, webhookUrl: receiver.url, webhookSecret: secret };
  const { id } = await rig.create(body);
  await rig.act(id, 'sign');
  return { receiver, rig, id };
}

test("webhooks.drop never sends a delivery, records it as failed, and doesn't retry it", async () => {
  const { receiver, rig, id } = await delivered({ drop: { match: 'envelope.signed' } });
  await receiver.count(3);
  await rig.control('POST', '/clock/advance', { ms: 86_400_000 });
  expect(receiver.events()).toEqual(['envelope.sent', 'envelope.viewed', 'envelope.completed']);
  const dropped = (await deliveriesOf(rig, id)).find((one) => one.event === 'envelope.signed');
  expect(dropped).toMatchObject({
    state: 'failed',
    nextAttemptAt: null,
    attempts: [{ status: null, error: 'dropped by a fault' }],
  });
});

test('webhooks.duplicate sends the same bytes twice', async () => {
  const { receiver, rig, id } = await delivered({ duplicate: { match: 'envelope.signed' } });
  await receiver.count(5);
  const [one, two] = receiver.received.filter((got) => got.event === 'envelope.signed');
  expect(two?.raw).toBe(one?.raw);
  expect(receiver.events()).toEqual([
    'envelope.sent',
    'envelope.viewed',
    'envelope.signed',
    'envelope.signed',
    'envelope.completed',
  ]);
  await eventually(async () => {
    const states = (await deliveriesOf(rig, id)).map((got) => `${got.state} ${got.attempts.length}`);
    expect(states).toEqual(['delivered 1', 'delivered 1', 'delivered 2', 'delivered 1']);
  });
});

test('webhooks.reorder sends later events first', async () => {
  const { receiver, rig, id } = await delivered({ reorder: { match: 'envelope.viewed', ms: 60_000 } });
  await receiver.count(3);
  expect(receiver.events()).toEqual(['envelope.sent', 'envelope.signed', 'envelope.completed']);
  await rig.control('POST', '/clock/advance', { ms: 60_000 });
  expect(receiver.events().at(-1)).toBe('envelope.viewed');
  expect((await deliveriesOf(rig, id)).every((one) => one.state === 'delivered')).toBe(true);
});

test('webhooks.delay delays one event, and later ones wait', async () => {
  const { receiver } = await delivered({ delay: { match: 'envelope.sent', ms: 200 } });
  await receiver.count(4);
  expect(receiver.events()).toEqual([
    'envelope.sent',
    'envelope.viewed',
    'envelope.signed',
    'envelope.completed',
  ]);
});

test('webhooks.badSignature sends hex of the right length that is not the HMAC', async () => {
  const { receiver } = await delivered({ badSignature: { match: 'envelope.signed' } });
  await receiver.count(4);
  for (const { event, raw, headers } of receiver.received) {
    const right = createHmac('sha256', secret).update(raw).digest('hex');
    expect(headers['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
    expect([event, headers['x-service-signature'] === right]).toEqual([event, event !== 'envelope.signed']);
  }
});
