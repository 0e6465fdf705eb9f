import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
let busy: number;
/** Stores a delivery. */
let store: () => Promise<void>;

beforeEach(async () => {
  [deliveries, failures, busy, store] = [[], [], 0, () => Promise.resolve()];
  receiver = await startTestReceiver(SECRET, {
    onDelivery: async (delivery) => {
      await store();
      deliveries.push(delivery);
    },
    onFailure: (error) => failures.push(error),
    onBusy: () => busy++,
  });
});
afterEach(() => receiver.close());

const deliver = (body = BODY) => post(receiver.url, body, signed(body, SECRET));

/** Sends a body except for its last byte, and leaves the connection open. */
async function open(bytes: number): Promise<Socket> {
  const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`POST /webhooks HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes - 1, 'x'));
  return socket;
}

it('refuses large bodies with 503 while many are arriving, and accepts small ones', async () => {
  const sockets = await Promise.all(Array.from({ length: 70 }, () => open(MIB)));
  const refused = await Promise.race(sockets.map((socket) => once(socket, 'data')));
  expect(String(refused)).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: \d/);
  await eventually(() => expect(busy).toBeGreaterThan(0));
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
  expect(busy).toBe(0);
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
