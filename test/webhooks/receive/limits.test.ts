import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AcceptedDeliveries } from '../../../src/webhooks/receive/accepted-deliveries.ts';
import type { Delivery } from '../../../src/webhooks/receive/delivery.ts';
import type { Receiver } from '../../../src/webhooks/receive/receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { payload, post, signed, startTestReceiver } from '../../support/webhooks.ts';

const SECRET = 'a-secret-of-more-than-16';
const BODY = payload('env_1');
const MIB = 1024 * 1024;

let receiver: Receiver;
let deliveries: Delivery[];
let failures: unknown[];
let unread: number[];
let faults: string[];
/** Stores a delivery. */
let store: () => Promise<void>;

beforeEach(async () => {
  [deliveries, failures, unread, faults] = [[], [], [], []];
  store = () => Promise.resolve();
  receiver = await startTestReceiver(SECRET, {
    onDelivery: async (delivery) => {
      await store();
      deliveries.push(delivery);
    },
    onFailure: (error) => failures.push(error),
    onUnread: (status) => unread.push(status),
    onUnreadable: (fault) => faults.push(fault),
  });
});
afterEach(() => receiver.close());

const deliver = (body = BODY) => post(receiver.url, body, signed(body, SECRET));

/** Opens a connection, and sends nothing. */
async function connected(): Promise<Socket> {
  const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Sends a body except for its last byte, and leaves the connection open. */
async function open(bytes: number): Promise<Socket> {
  const socket = await connected();
  socket.write(`POST /webhooks HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes - 1, 'x'));
  return socket;
}

it('refuses large bodies with 503 while many are arriving, and accepts small ones', async () => {
  const sockets = await Promise.all(Array.from({ length: 70 }, () => open(MIB)));
  const refused = await Promise.race(sockets.map((socket) => once(socket, 'data')));
  expect(String(refused)).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: \d/);
  await eventually(() => expect(unread).toContain(503));
  const burst = await Promise.all(Array.from({ length: 200 }, (_, n) => deliver(payload(`env_${n}`))));
  expect(new Set(burst)).toEqual(new Set([200]));
  for (const socket of sockets) socket.destroy();
  const large = payload('env_large', 'envelope.sent', { filler: 'x'.repeat(MIB / 2) });
  await eventually(async () => expect(await deliver(large)).toBe(200));
});

it('stops counting a body when its request is answered', async () => {
  for (let n = 0; n < 80; n++) {
    const large = payload(`env_${n}`, 'envelope.sent', { filler: 'x'.repeat(MIB - 1_000) });
    expect(await deliver(large)).toBe(200);
  }
  expect(unread).toEqual([]);
});

it('responds with 500 to a delivery that could not be stored, and accepts it as new when it is sent again', async () => {
  const full = new Error('the disk is full');
  store = () => Promise.reject(full);
  expect(await deliver()).toBe(500);
  store = () => Promise.resolve();
  expect([await deliver(), await deliver()]).toEqual([200, 200]);
  expect(deliveries).toMatchObject([{ duplicate: false }, { duplicate: true }]);
  expect(failures).toEqual([full]);
});

it('takes the same id of another envelope for another delivery', async () => {
  const of = (envelopeId: string) =>
    JSON.stringify({
      id: 'evt_1',
      type: 'envelope.sent',
      createdAt: '2026-01-02T03:04:05Z',
      data: { envelopeId },
    });
  for (const body of [of('env_1'), of('env_2'), of('env_1')]) expect(await deliver(body)).toBe(200);
  expect(deliveries.map(({ duplicate }) => duplicate)).toEqual([false, false, true]);
});

it('acknowledges a repeated delivery only when the first one is stored', async () => {
  let fail = (_: Error) => undefined as unknown;
  let stored = 0;
  const accepted = new AcceptedDeliveries();
  const storing = new Promise<void>((_, reject) => {
    fail = reject;
  });
  const first = accepted.store({ envelopeId: 'env_1', id: 'evt_1' }, () => storing);
  const repeat = accepted.store({ envelopeId: 'env_1', id: 'evt_1' }, () => {
    stored++;
    return Promise.resolve();
  });
  const other = accepted.store({ envelopeId: 'env_2', id: 'evt_1' }, (isRepeat) => {
    expect(isRepeat).toBe(false);
    return Promise.resolve();
  });
  await other;
  fail(new Error('the disk is full'));
  expect((await Promise.allSettled([first, repeat])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ]);
  expect(stored).toBe(0);
});

it('closes the connection of every refused request', async () => {
  const requests = [
    ['404', `GET /x HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['405', `GET /webhooks HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['401', `POST /webhooks HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`],
  ] as const;
  for (const [status, text] of requests) {
    const socket = await connected();
    socket.write(text);
    const reply = String(await once(socket, 'data'));
    expect(reply).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*connection: close`, 'i'));
    await once(socket, 'close');
  }
});

it.each([
  ['used TLS', Buffer.from('160301020001000001fc0303', 'hex')],
  ['used an unknown method', Buffer.from('FETCH /webhooks HTTP/1.1\r\nHost: a\r\n\r\n')],
  ['used something other than HTTP', Buffer.from('SSH-2.0-OpenSSH_9.6\r\n')],
  ['used something other than HTTP', Buffer.from('POST /webhooks HTTP/1.1\r\nContent-Length: x\r\n\r\n')],
  ['used something other than HTTP', Buffer.from([0, 1, 2, 3])],
  [
    'sent headers that are too long',
    Buffer.from(`POST /webhooks HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`),
  ],
  ['was too slow', Buffer.from('POST /webhooks HTTP/1.1\r\nX-Slow: ')],
])('reports a sender that %s, and closes its connection', async (fault, bytes) => {
  const socket = await connected();
  socket.write(bytes);
  socket.resume();
  await once(socket, 'close');
  expect(faults).toEqual([fault]);
  expect(await deliver()).toBe(200);
});

it('does not report a connection that the sender closes', async () => {
  (await connected()).destroy();
  const half = await open(100);
  half.destroy();
  expect(await deliver()).toBe(200);
  expect(faults).toEqual([]);
});
