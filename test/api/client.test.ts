import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../src/api/client.ts';
import { clientFor } from '../support/client.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

let folder: string;
let server: TestServer | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-client-'));
});
afterEach(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

const get = { method: 'GET', path: '/x' } as const;

/** A service whose rate window has the given number of requests and length in ms. */
async function limited(clock: FakeClock, limit: number, lengthMs: number, lateMs = 0) {
  let [used, endsAt] = [0, 0];
  const refused: number[] = [];
  server = await startServer((_, response, number) => {
    if (clock.now() >= endsAt + lateMs) [used, endsAt] = [0, clock.now() + lengthMs];
    const isFree = used < limit;
    if (isFree) used++;
    else refused.push(number);
    const headers = {
      date: new Date(clock.now()).toUTCString(),
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(limit - used),
      'x-ratelimit-reset': String(endsAt),
    };
    if (isFree) json(response, 200, {}, headers);
    else json(response, 429, { error: { code: 'RATE_LIMITED', message: 'too many' } }, headers);
  });
  return { origin: server.origin, refused };
}

describe('a client that keeps a rate window', () => {
  it('waits for the next window before the service refuses, and reports the wait', async () => {
    const clock = fakeClock();
    const { origin, refused } = await limited(clock, 3, 30_000);
    const waits: number[] = [];
    const client = clientFor(origin, { clock, windowFolder: folder, onWait: ({ ms }) => waits.push(ms) });
    expect(client.window?.reading()).toBeUndefined();
    for (let i = 0; i < 3; i++) await client.send(get);
    expect(client.window?.reading()).toMatchObject({ limit: 3, free: 0 });
    expect(waits).toEqual([]);
    await client.send(get);
    expect(refused).toEqual([]);
    expect(waits).toHaveLength(1);
    expect(await readdir(folder)).not.toEqual([]);
  });

  it('gets a single 429 from a service whose windows end later than announced', async () => {
    const clock = fakeClock();
    const { origin, refused } = await limited(clock, 3, 30_000, 500);
    const client = clientFor(origin, { clock, windowFolder: folder });
    for (let i = 0; i < 15; i++) await client.send(get);
    expect(refused).toHaveLength(1);
  });

  it('waits at most a minute by default', async () => {
    const clock = fakeClock();
    const { origin } = await limited(clock, 1, 120_000);
    const client = clientFor(origin, { clock, windowFolder: folder });
    await client.send(get);
    await expect(client.send(get)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect([server?.seen.length, clock.slept]).toEqual([1, []]);
    await clientFor(origin, { clock, windowFolder: folder, maxWaitMs: 120_000 }).send(get);
    expect(server?.seen).toHaveLength(2);
  });

  it('leaves the reserve to other clients', async () => {
    const clock = fakeClock();
    const { origin } = await limited(clock, 4, 30_000);
    const client = clientFor(origin, { clock, windowFolder: folder, reserve: 0.5, maxWaitMs: 0 });
    for (let i = 0; i < 2; i++) await client.send(get);
    await expect(client.send(get)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(server?.seen).toHaveLength(2);
  });
});

describe('a client without a folder', () => {
  it('delays no request, and waits after a refusal', async () => {
    const clock = fakeClock();
    const { origin, refused } = await limited(clock, 2, 30_000);
    const waits: number[] = [];
    const client = clientFor(origin, { clock, onWait: ({ ms }) => waits.push(ms) });
    expect(client.window).toBeUndefined();
    for (let i = 0; i < 3; i++) await client.send(get);
    expect([refused, waits.length, clock.slept.length]).toEqual([[3], 1, 1]);
  });

  it('waits at most a minute after a refusal by default', async () => {
    const clock = fakeClock();
    const { origin } = await limited(clock, 1, 120_000);
    await clientFor(origin, { clock }).send(get);
    await expect(clientFor(origin, { clock }).send(get)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(clock.slept).toEqual([]);
    await clientFor(origin, { clock, maxWaitMs: 130_000 }).send(get);
    expect(clock.slept).toHaveLength(1);
  });

  it('sends a read six times in all, with waits of different lengths', async () => {
    server = await startServer((_, response) =>
      json(response, 503, { error: { code: 'INTERNAL_ERROR', message: 'down' } }),
    );
    const clock = fakeClock();
    const options = { baseUrl: server.origin, apiKey: 'sk_test_1', timeoutMs: 30_000, userAgent: 'x', clock };
    await expect(createClient(options).send(get)).rejects.toMatchObject({ status: 503 });
    expect(server.seen).toHaveLength(6);
    expect(clock.slept).toHaveLength(5);
    // Jitter: two clients that fail together must not retry together.
    const first = [...clock.slept];
    await expect(createClient(options).send(get)).rejects.toMatchObject({ status: 503 });
    expect(clock.slept.slice(5)).not.toEqual(first);
    const seen = server.seen.length;
    await expect(createClient({ ...options, retries: 1 }).send(get)).rejects.toMatchObject({ status: 503 });
    expect(server.seen.length - seen).toBe(2);
  });
});
