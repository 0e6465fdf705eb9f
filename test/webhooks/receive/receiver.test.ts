import { connect } from 'node:net';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { UsageError } from '../../../src/kernel/errors.ts';
import { recordOf } from '../../../src/webhooks/journal/record.ts';
import type { Delivery } from '../../../src/webhooks/receive/delivery.ts';
import {
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
let failures: unknown[] = [];

const options = (): ReceiverOptions => ({
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
  onFailure: (error) => {
    failures.push(error);
  },
  onDropped: () => undefined,
});

async function start(more: Partial<ReceiverOptions> = {}): Promise<string> {
  [seen, failures] = [[], []];
  receiver = await startReceiver({ ...options(), ...more });
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

describe('the response to a delivery', () => {
  const signature = sign(Buffer.from(body), secret);

  it('comes after the delivery was stored', async () => {
    let isStored = false;
    const url = await start({
      onDelivery: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        isStored = true;
      },
    });
    expect([(await post(url, body, signature)).status, isStored]).toEqual([200, true]);
  });

  it('is 500 if storing the delivery fails later', async () => {
    const error = new Error('full');
    const url = await start({
      onDelivery: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        throw error;
      },
    });
    expect((await post(url, body, signature)).status).toBe(500);
    expect(failures).toEqual([error]);
  });
});

describe('the webhook receiver', () => {
  it('returns 200 for a valid signature and parses the event', async () => {
    const url = await start();
    expect((await post(url, body, sign(Buffer.from(body), secret))).status).toBe(200);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ verified: true, duplicate: false, reason: null, answer: 200 });
    expect(seen[0]).toMatchObject({
      event: 'envelope.signed',
      envelopeId: 'env_1',
      status: 'IN_PROGRESS',
      signer: 'a@b.c',
    });
  });

  it('parses the other payload shape', async () => {
    const url = await start();
    const other =
      '{"id":"evt_1","type":"envelope.completed","createdAt":"2026-01-02T03:04:05Z","data":{"envelopeId":"env_2"}}';
    await post(url, other, sign(Buffer.from(other), secret));
    expect(seen[0]).toMatchObject({ id: 'evt_1', event: 'envelope.completed', envelopeId: 'env_2' });
  });

  it('verifies the raw bytes: white space counts', async () => {
    const url = await start();
    const spaced = ` ${body}\n`;
    expect((await post(url, spaced, sign(Buffer.from(spaced), secret))).status).toBe(200);
    expect((await post(url, spaced, sign(Buffer.from(body), secret))).status).toBe(401);
  });

  it('returns 401 for an invalid or missing signature and gives the reason only to the operator', async () => {
    const url = await start();
    for (const signature of [undefined, 'nonsense', sign(Buffer.from(body), 'another secret here')]) {
      const reply = await post(url, body, signature);
      expect(reply.status).toBe(401);
      expect(reply.text).toBe('invalid signature\n');
    }
    expect(seen.map((one) => one.verified)).toEqual([false, false, false]);
    expect(seen.every((one) => one.reason !== null)).toBe(true);
  });

  it('marks duplicates, but not because of a forged copy', async () => {
    const url = await start();
    await post(url, body, 'forged');
    await post(url, body, sign(Buffer.from(body), secret));
    await post(url, body, sign(Buffer.from(body), secret));
    expect(seen.map((one) => one.duplicate)).toEqual([false, false, true]);
  });

  it('returns 400 for a body that is not JSON, and keeps the bytes', async () => {
    const url = await start();
    const bytes = Uint8Array.from([0xff, 0xfe, 0x00, 0x41]);
    expect((await post(url, bytes, sign(bytes, secret))).status).toBe(400);
    expect(seen[0]).toMatchObject({ reason: expect.stringContaining('JSON') as unknown, verified: true });
    expect([...(seen[0]?.raw ?? [])]).toEqual([...bytes]);
  });

  it('returns 413, 405, and 404 without reporting a delivery', async () => {
    const url = await start();
    expect((await post(url, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    const wrongMethod = await fetch(url);
    expect(wrongMethod.status).toBe(405);
    expect(wrongMethod.headers.get('allow')).toBe('POST');
    expect((await post(new URL('/elsewhere', url).href, body)).status).toBe(404);
    expect(seen).toEqual([]);
  });

  it('requests a retry if the delivery could not be recorded, with the reason, and then treats it as new', async () => {
    let isFull = true;
    const url = await start({
      onDelivery: (delivery) => {
        if (isFull) throw new Error('disk full');
        seen.push(delivery);
      },
    });
    const signature = sign(Buffer.from(body), secret);
    expect((await post(url, body, signature)).status).toBe(500);
    expect(failures).toMatchObject([{ message: 'disk full' }]);
    isFull = false;
    expect((await post(url, body, signature)).status).toBe(200);
    expect(seen).toMatchObject([{ duplicate: false }]);
  });

  it('accepts unverified deliveries only with an explicit option', async () => {
    const url = await start({
      verify: false,
      secretsFor: () => Promise.resolve({ secrets: [], others: [] }),
    });
    expect((await post(url, body)).status).toBe(200);
    expect(seen[0]).toMatchObject({ verified: false, reason: null });
  });

  it.each<Record<string, string>>([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-dest': 'empty' },
    { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/60.0' },
    { 'user-agent': 'Mozilla/5.0', 'content-type': 'text/plain;charset=UTF-8' },
    { referer: 'http://evil.example/', 'content-type': 'application/x-www-form-urlencoded' },
    { referer: 'http://evil.example/', 'content-type': 'multipart/form-data; boundary=x' },
  ])('accepts nothing unverified from a web page: %o', async (headers) => {
    const url = await start({ verify: false });
    const reply = await request(url, { method: 'POST', body, headers });
    expect([reply.statusCode, await reply.body.text()]).toEqual([403, 'browser requests are refused\n']);
    expect(seen).toMatchObject([
      { verified: false, reason: expect.stringContaining('a web page') as unknown, answer: 403 },
    ]);
    const signed = { ...headers, 'x-service-signature': sign(Buffer.from(body), secret) };
    const checked = await startReceiver({ ...options(), verify: true });
    const other = await request(checked.url, { method: 'POST', body, headers: signed });
    await other.body.dump();
    await checked.close();
    // A valid signature is stronger than the origin of the request.
    expect(other.statusCode).toBe(200);
  });

  it.each<Record<string, string>>([
    { 'user-agent': 'curl/8.5.0', 'content-type': 'application/x-www-form-urlencoded' },
    { 'user-agent': 'node', 'content-type': 'text/plain;charset=UTF-8', 'sec-fetch-mode': 'cors' },
    { 'user-agent': 'Mozilla/5.0 (compatible; esign-hooks)', 'content-type': 'application/json' },
  ])('accepts unverified what no web page can send: %o', async (headers) => {
    const url = await start({ verify: false });
    const reply = await request(url, { method: 'POST', body, headers });
    await reply.body.dump();
    expect(reply.statusCode).toBe(200);
  });

  it('keeps only the first 4 KiB of a refused delivery, and no long facts', async () => {
    const url = await start();
    const long = 'x'.repeat(100_000);
    const signer = { email: long };
    const big = JSON.stringify({ id: long, event: long, data: { envelopeId: long, status: long, signer } });
    const headers = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`x-${n}`, 'v'.repeat(210)]));
    const reply = await request(url, { method: 'POST', body: big, headers });
    await reply.body.dump();
    expect(reply.statusCode).toBe(401);
    const [refused] = seen;
    expect(refused?.raw.toString()).toBe(big.slice(0, 4_096));
    expect(refused?.bytes).toBe(big.length);
    expect(refused?.body).toBeNull();
    expect(JSON.stringify(refused && recordOf(refused)).length).toBeLessThan(40_000);
  });

  it.each([
    ['20,000 levels', 20_000],
    ['nearly 1 MiB of nesting', 170_000],
  ])('accepts JSON that is nested too deep to be serialized: %s', async (_, levels) => {
    const url = await start();
    const deep = `{"event":"envelope.sent","data":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
    expect((await post(url, deep, sign(Buffer.from(deep), secret))).status).toBe(200);
    expect((await post(url, deep)).status).toBe(401);
    expect((await post(url, deep, 'f'.repeat(64))).status).toBe(401);
    expect(seen).toMatchObject([
      { event: 'envelope.sent', body: null, reason: null },
      { body: null, reason: expect.stringContaining('is missing') as unknown },
      { body: null, reason: expect.stringContaining('does not match') as unknown },
    ]);
    expect(failures).toEqual([]);
  });

  it('survives random bytes on the socket', async () => {
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

  it('reports a port in use', async () => {
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
      onFailure: () => undefined,
      onDropped: () => undefined,
    });
    await expect(again).rejects.toThrow(UsageError);
    await expect(again).rejects.toThrow('already in use');
  });
});
