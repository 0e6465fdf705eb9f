import { connect } from 'node:net';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { UsageError } from '../../../src/kernel/errors.ts';
import {
  type Delivery,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '../../../src/webhooks/receive/receiver.ts';
import { sign } from '../../../src/webhooks/receive/signature.ts';

const secret = 'a-secret-of-more-than-16';
const body =
  '{"event":"envelope.signed","timestamp":"2026-01-02T03:04:05Z","data":{"envelopeId":"env_1","status":"IN_PROGRESS","signer":{"email":"a@b.c"}}}';
let receiver: Receiver | undefined;
let seen: Delivery[] = [];

async function start(options: Partial<ReceiverOptions> = {}): Promise<string> {
  seen = [];
  receiver = await startReceiver({
    host: '127.0.0.1',
    port: 0,
    path: '/webhooks',
    signatureHeader: 'x-service-signature',
    secretsFor: () => Promise.resolve({ secrets: [secret], others: [] }),
    verify: true,
    clock: systemClock,
    onDelivery: (delivery) => {
      seen.push(delivery);
    },
    ...options,
  });
  return receiver.url;
}

/** undici, not fetch: the bytes must arrive exactly as they are. */
async function post(url: string, body: string | Uint8Array, signature?: string) {
  const headers = signature === undefined ? {} : { 'x-service-signature': signature };
  const reply = await request(url, { method: 'POST', body: Buffer.from(body), headers });
  return { status: reply.statusCode, text: await reply.body.text() };
}

afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
});

describe('the webhook receiver', () => {
  it('answers 200 to a good signature and reads the event', async () => {
    const url = await start();
    expect((await post(url, body, sign(Buffer.from(body), secret))).status).toBe(200);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ verified: true, duplicate: false, reason: null, answer: 200 });
    expect(seen[0]?.facts).toMatchObject({
      event: 'envelope.signed',
      envelopeId: 'env_1',
      status: 'IN_PROGRESS',
      signer: 'a@b.c',
    });
  });

  it('reads the other payload form', async () => {
    const url = await start();
    const other =
      '{"id":"evt_1","type":"envelope.completed","createdAt":"2026-01-02T03:04:05Z","data":{"envelopeId":"env_2"}}';
    await post(url, other, sign(Buffer.from(other), secret));
    expect(seen[0]?.facts).toMatchObject({ id: 'evt_1', event: 'envelope.completed', envelopeId: 'env_2' });
  });

  it('verifies the raw bytes: white space counts', async () => {
    const url = await start();
    const spaced = ` ${body}\n`;
    expect((await post(url, spaced, sign(Buffer.from(spaced), secret))).status).toBe(200);
    expect((await post(url, spaced, sign(Buffer.from(body), secret))).status).toBe(401);
  });

  it('answers 401 to a bad or missing signature and tells the reason to nobody but the operator', async () => {
    const url = await start();
    for (const signature of [undefined, 'nonsense', sign(Buffer.from(body), 'another secret here')]) {
      const reply = await post(url, body, signature);
      expect(reply.status).toBe(401);
      expect(reply.text).toBe('signature refused\n');
    }
    expect(seen.map((one) => one.verified)).toEqual([false, false, false]);
    expect(seen.every((one) => one.reason !== null)).toBe(true);
  });

  it('marks what it has seen before, but not because of a forged copy', async () => {
    const url = await start();
    await post(url, body, 'forged');
    await post(url, body, sign(Buffer.from(body), secret));
    await post(url, body, sign(Buffer.from(body), secret));
    expect(seen.map((one) => one.duplicate)).toEqual([false, false, true]);
  });

  it('answers 400 to what is not JSON, keeping the bytes', async () => {
    const url = await start();
    const bytes = Uint8Array.from([0xff, 0xfe, 0x00, 0x41]);
    expect((await post(url, bytes, sign(bytes, secret))).status).toBe(400);
    expect(seen[0]).toMatchObject({ reason: 'the body is not JSON', verified: true });
    expect([...(seen[0]?.raw ?? [])]).toEqual([...bytes]);
  });

  it('answers 413, 405 and 404 without showing a delivery', async () => {
    const url = await start();
    expect((await post(url, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    const wrongMethod = await fetch(url);
    expect(wrongMethod.status).toBe(405);
    expect(wrongMethod.headers.get('allow')).toBe('POST');
    expect((await post(new URL('/elsewhere', url).href, body)).status).toBe(404);
    expect(seen).toEqual([]);
  });

  it('asks for another try when the delivery could not be recorded', async () => {
    const url = await start({ onDelivery: () => Promise.reject(new Error('disk full')) });
    expect((await post(url, body, sign(Buffer.from(body), secret))).status).toBe(500);
  });

  it('takes everything, unverified, only when told so', async () => {
    const url = await start({
      verify: false,
      secretsFor: () => Promise.resolve({ secrets: [], others: [] }),
    });
    expect((await post(url, body)).status).toBe(200);
    expect(seen[0]).toMatchObject({ verified: false, reason: null });
  });

  it('survives raw garbage on the socket', async () => {
    const url = await start();
    for (const garbage of [
      '\u0000\u0001\u0002\r\n\r\n',
      'POST /webhooks HTTP/1.1\r\nContent-Length: -1\r\n\r\n',
      'GET',
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.end(garbage));
        socket
          .on('close', () => resolve())
          .on('error', () => undefined)
          .resume();
      });
    }
    expect((await post(url, body, sign(Buffer.from(body), secret))).status).toBe(200);
  });

  it('says plainly that a port is taken', async () => {
    const url = await start();
    const again = startReceiver({
      host: '127.0.0.1',
      port: Number(new URL(url).port),
      path: '/',
      signatureHeader: 'x',
      secretsFor: () => Promise.resolve({ secrets: [], others: [] }),
      verify: false,
      clock: systemClock,
      onDelivery: () => undefined,
    });
    await expect(again).rejects.toThrow(UsageError);
    await expect(again).rejects.toThrow('the port is taken');
  });
});
