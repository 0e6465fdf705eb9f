import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Home, type LongRunning } from '../support/cli.ts';
import { portOf, startServer } from '../support/server.ts';
import { payload, post, signed } from '../support/webhooks.ts';

const SECRET = 'canary-secret-0123456789';
let home: Home;

/** The application behind `--forward-to`, which is temporarily unavailable. */
const got: { id: string; body: string; custom: unknown }[] = [];
/** Its response to a body. */
let says: (body: string) => number = () => 200;
const app = createServer((request, response) => {
  void buffer(request).then((bytes) => {
    const body = bytes.toString();
    got.push({
      id: String(request.headers['x-esign-delivery-id']),
      body,
      custom: request.headers['x-custom'],
    });
    response.writeHead(says(body)).end();
  });
});
const up = (port: number) =>
  new Promise<number>((resolve) => {
    app.listen(port, '127.0.0.1', () => resolve(portOf(app)));
  });
const down = () =>
  new Promise((resolve) => {
    app.close(resolve);
    app.closeAllConnections();
  });
let port: number;
let to: string[];

beforeAll(async () => {
  port = await up(0);
  to = ['--forward-to', `http://127.0.0.1:${port}/app?token=canary-token`];
});
beforeEach(() => {
  got.length = 0;
  says = () => 200;
  home = new Home({ ESIGN_WEBHOOK_SECRET: SECRET });
});
afterEach(async () => {
  await home.close();
  if (!app.listening) await up(port);
});
afterAll(down);

/** Valid JSON with odd spacing. */
const body = (n: number, envelopeId: string) =>
  `{ "event":"envelope.sent",\n  "n":${n}, "data":{"envelopeId":"${envelopeId}"} }\n`;
const listen = (...more: string[]) => home.background`listen --port 0 --json ${more}`;
const send = (url: unknown, content: string, more: Record<string, string> = {}) =>
  post(url, content, { ...signed(content, SECRET), ...more });
/** Waits for this many of its lines of a type. */
async function lines(from: LongRunning, type: string, count: number): Promise<Record<string, unknown>[]> {
  const found = [];
  while (found.length < count) {
    const line = await from.object();
    if (line.type === type) found.push(line);
  }
  return found;
}
const bodies = () => got.map((one) => one.body);

describe('forwarding', () => {
  it('sends identical bytes and headers, retries, and shows no secret of the address', async () => {
    says = () => (got.length === 1 ? 500 : 200);
    const listener = listen(...to, '--events', 'sent');
    const { url } = await listener.object();
    const forged = payload('env_forged');
    expect(await post(url, forged, signed(forged, 'other'))).toBe(401);
    expect(await send(url, payload('env_1', 'envelope.viewed'))).toBe(200);
    expect(await send(url, body(1, 'env_é'), { 'X-Custom': 'a,b' })).toBe(200);
    const attempts = await lines(listener, 'forward', 2);
    expect(attempts).toMatchObject([
      { url: `http://127.0.0.1:${port}/app`, attempt: 1, status: 500, error: 'responded with 500' },
      { attempt: 2, status: 200, error: null },
    ]);
    await listener.stop();
    expect(bodies()).toEqual([body(1, 'env_é'), body(1, 'env_é')]);
    expect(got.map(({ custom }) => custom)).toEqual(['a,b', 'a,b']);
    expect(got.map(({ id }) => id)).toEqual(attempts.map(({ id }) => id));
    expect(JSON.stringify(attempts) + (await listener.stderr)).not.toContain('canary');
  });

  it('keeps the order of an envelope through failures, and delays no other envelope', async () => {
    const first = body(1, 'env_a');
    says = (one) => (one === first && bodies().filter((other) => other === first).length < 3 ? 503 : 200);
    const listener = listen(...to);
    const { url } = await listener.object();
    for (const one of [first, body(2, 'env_a'), body(3, 'env_b')]) expect(await send(url, one)).toBe(200);
    await lines(listener, 'forward', 5);
    await listener.stop();
    expect(bodies().filter((one) => one.includes('env_a'))).toEqual([first, first, first, body(2, 'env_a')]);
    expect(bodies().indexOf(body(3, 'env_b'))).toBeLessThan(bodies().lastIndexOf(first));
  });

  it('continues after a restart, once and in order, and reports what is left', async () => {
    await down();
    const first = listen(...to);
    const { url } = await first.object();
    const sent = [body(1, 'env_a'), body(2, 'env_a'), body(3, 'env_b')];
    for (const one of sent) expect(await send(url, one)).toBe(200);
    const stopped = first.stop();
    const [warning] = await lines(first, 'warning', 1);
    expect(warning?.message).toMatch(/^3 deliveries .*--forward-to .* 24 hours/);
    await stopped;
    await up(port);
    // Another address, without a scheme.
    const other = listen('--forward-to', `127.0.0.1:${port}/other`);
    await other.object();
    await other.stop();
    expect(got).toEqual([]);
    const second = listen(...to);
    await lines(second, 'forward', 3);
    await second.stop();
    expect(bodies().filter((one) => one.includes('env_a'))).toEqual(sent.slice(0, 2));
    expect(bodies().toSorted()).toEqual(sent.toSorted());
    const kept = (await home.run`events list -q --all`).stdout.trim().split('\n');
    expect(got.map(({ id }) => id).toSorted()).toEqual(kept.toSorted());
    const third = listen(...to);
    await third.object();
    await third.stop();
    expect(got).toHaveLength(3);
    expect((await home.shell('cat state/*/*/*.jsonl')).stdout).not.toContain('canary');
  });

  it('is waited for when it is stopped', async () => {
    let release: () => void = () => undefined;
    const slow = await startServer((_, response) => {
      release = () => void response.end();
    });
    const listener = listen('--forward-to', slow.origin);
    const { url } = await listener.object();
    expect(await send(url, body(5, 'env_d'))).toBe(200);
    while (slow.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const stopped = listener.stop();
    await listener.says(/Waiting for open forwards/);
    release();
    expect(await lines(listener, 'forward', 1)).toMatchObject([{ attempt: 1, error: null }]);
    await stopped;
  });

  it('delays no response if the application never responds', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve);
    });
    const listener = home.start`listen --port 0 --json --forward-to http://127.0.0.1:${portOf(silent)}/`;
    const { url } = await listener.object();
    const answers = [];
    // More than are forwarded at the same time.
    for (let n = 0; n < 50; n++) answers.push(await send(url, body(n, `env_silent_${n}`)));
    expect(new Set(answers)).toEqual(new Set([200]));
    await lines(listener, 'delivery', 50);
    // A second signal doesn't wait for them.
    await listener.insist('SIGTERM');
    expect(await listener.ended).toEqual({ code: null, signal: 'SIGTERM' });
    silent.closeAllConnections();
    silent.close();
  });
});
