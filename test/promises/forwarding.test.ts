import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sign } from '../../src/webhooks/receive/signature.ts';
import { Home, jsonLines, type LongRunning } from '../support/cli.ts';
import { portOf } from '../support/server.ts';

const SECRET = 'canary-secret-0123456789';
let home: Home;

/** The application behind `--forward-to`, which is temporarily unavailable. */
const got: { id: string; body: string }[] = [];
const app = createServer((request, response) => {
  void buffer(request).then((body) => {
    got.push({ id: String(request.headers['x-esign-delivery-id']), body: body.toString() });
    response.end();
  });
});
const up = (port: number) =>
  new Promise<number>((resolve) => {
    app.listen(port, '127.0.0.1', () => {
      resolve(portOf(app));
    });
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
  await down();
  to = ['--forward-to', `http://127.0.0.1:${port}/app?token=canary-token`];
});
beforeEach(async () => {
  await down();
  got.length = 0;
  home = new Home({ ESIGN_WEBHOOK_SECRET: SECRET });
});
afterEach(() => home.close());
afterAll(down);

const body = (n: number, envelopeId: string) =>
  `{ "event":"envelope.sent",  "n":${n}, "data":{"envelopeId":"${envelopeId}"} }`;
const listen = (...more: string[]) => home.start`listen --port 0 --json ${more}`;
const post = async (url: unknown, content: string) =>
  (
    await fetch(String(url), {
      method: 'POST',
      body: content,
      headers: { 'X-Service-Signature': sign(Buffer.from(content), SECRET) },
    })
  ).status;
/** Waits for this many of its lines of a type. */
async function lines(from: LongRunning, type: string, count: number): Promise<Record<string, unknown>[]> {
  const found = [];
  while (found.length < count) {
    const line = await from.object();
    if (line.type === type && (type !== 'forward' || line.error === null)) found.push(line);
  }
  return found;
}

describe("deliveries that the application couldn't receive", () => {
  const bodies = [body(1, 'env_a'), body(2, 'env_a'), body(3, 'env_b')];
  const exec = ['--exec', 'echo "$ESIGN_DELIVERY_ID" >> ran'];

  it('are acknowledged immediately, and forwarded once and in order by the next listener after a kill -9', async () => {
    const first = listen(...to, ...exec);
    const { url } = await first.object();
    for (const one of bodies) expect(await post(url, one)).toBe(200);
    await lines(first, 'delivery', 3);
    await first.stop('SIGKILL');
    await up(port);
    const second = listen(...to, ...exec);
    expect(await second.object()).toMatchObject({ type: 'ready' });
    expect(await second.object()).toEqual({ type: 'backlog', pending: 3 });
    await lines(second, 'forward', 3);
    await second.stop();
    expect(got.filter(({ body: one }) => one.includes('env_a')).map(({ body: one }) => one)).toEqual(
      bodies.slice(0, 2),
    );
    expect(got.map(({ body: one }) => one).toSorted()).toEqual(bodies.toSorted());
    const kept = jsonLines((await home.run`events list -q --all`).stdout.replace(/.+/g, '"$&"'));
    expect(got.map(({ id }) => id).toSorted()).toEqual(kept.toSorted());
    const third = listen(...to);
    await third.object();
    const stopped = third.stop();
    expect((await third.object()).type).toBe('summary');
    await stopped;
    expect(got).toHaveLength(3);
    // Deliveries of a killed listener are forwarded, but a command runs at most once.
    const ran = (await readFile(home.path('ran'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
    expect(new Set(ran).size).toBe(ran.length);
  });

  it('are listed when it stops, and belong to the running listener', async () => {
    const first = listen(...to);
    const { url } = await first.object();
    expect(await post(url, body(4, 'env_c'))).toBe(200);
    const second = listen(...to);
    await second.object();
    const secondStopped = second.stop();
    expect((await second.object()).type).toBe('summary');
    await secondStopped;
    const stopped = first.stop();
    const [warning] = await lines(first, 'warning', 1);
    expect(warning?.message).toMatch(/^1 delivery .*--forward-to .* 24 hours/);
    await stopped;
    await up(port);
    // The default scheme is http.
    const other = listen('--forward-to', `127.0.0.1:${port}/other`);
    await other.object();
    await other.stop();
    expect(got).toEqual([]);
    const next = listen(...to);
    await lines(next, 'forward', 1);
    await next.stop();
    expect(got.map((one) => one.body)).toEqual([body(4, 'env_c')]);
    const written = (await home.shell('cat state/forwards/*/* state/events/*/*')).stdout;
    expect(written).not.toContain('canary');
    expect((await home.shell('ls state/forwards')).stdout).not.toContain('.lock');
  });

  it('delay no response and no exit if the application never responds', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve);
    });
    const at = portOf(silent);
    const listening = listen('--forward-to', `http://127.0.0.1:${at}/`, '--drain', '0s');
    const { url } = await listening.object();
    const answers = [];
    // More than are forwarded at the same time.
    for (let n = 0; n < 50; n++) answers.push(await post(url, body(n, `env_silent_${n}`)));
    expect(answers.filter((status) => status === 200)).toHaveLength(50);
    const stopped = listening.stop();
    const [warning] = await lines(listening, 'warning', 1);
    expect(warning?.message).toMatch(/^50 deliveries are not forwarded/);
    expect(await stopped).toEqual({ code: null, signal: 'SIGTERM' });
    silent.closeAllConnections();
    silent.close();
  });
});
