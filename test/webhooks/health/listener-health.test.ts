import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { isRecord, parseJson } from '../../../src/kernel/json.ts';
import type { ListenEvent, ListenerOptions } from '../../../src/webhooks/listen-event.ts';
import { listen } from '../../../src/webhooks/listener.ts';
import { portOf } from '../../support/server.ts';
import { isWindows } from '../../support/system.ts';
import { post, signed } from '../../support/webhooks.ts';

const SECRET = 'canarysecret-of-a-listener';
const MINUTE = 60_000;

let folder: string;
let over: AbortController;
let events: ListenEvent[];
let run: Promise<void>;
/** The offset of the listener's clock. */
let skew: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-health-'));
  [over, events, skew, run] = [new AbortController(), [], 0, Promise.resolve()];
});
afterEach(async () => {
  over.abort();
  await run;
  await rm(folder, { recursive: true, force: true });
});

const clock: Clock = { now: () => Date.now() + skew, sleep: systemClock.sleep };

/** Starts a listener, and waits for the first event of a kind; it runs until the test is over. */
async function start(
  more: Partial<ListenerOptions>,
  first: ListenEvent['type'] = 'ready',
): Promise<ListenEvent> {
  const options: ListenerOptions = {
    ...{
      host: '127.0.0.1',
      port: 0,
      path: '/webhooks',
      signatureHeader: 'x-service-signature',
      verify: true,
    },
    secretsFor: () => Promise.resolve({ secrets: [SECRET], others: [] }),
    clock,
    eventsFolder: join(folder, 'events'),
    forwardsFolder: join(folder, 'forwards'),
    events: undefined,
    forwardTo: [],
    forwardTimeoutMs: 5_000,
    drainMs: 100,
    keepMs: undefined,
    tunnel: undefined,
    inspect: undefined,
    health: { port: 0, serviceTime: undefined, askEveryMs: undefined },
    ...more,
  };
  run = (async () => {
    for await (const event of listen(options, over.signal)) events.push(event);
  })();
  run.catch(() => undefined);
  return until(() => events.find(({ type }) => type === first));
}

/** Only a failing test reaches the limit; health.test.ts tests how soon it is red. */
async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + 50_000; Date.now() < end; await systemClock.sleep(50)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error('never');
}

async function asked(url: string): Promise<{ status: number; codes: unknown[]; text: string }> {
  const reply = await fetch(url);
  const text = await reply.text();
  const body = parseJson(text);
  const reasons: unknown[] = isRecord(body) && Array.isArray(body.reasons) ? body.reasons : [];
  return { status: reply.status, codes: reasons.map((one) => (isRecord(one) ? one.code : one)), text };
}

/** Soon red, for this reason alone, with this text. */
const red = (url: string, code: string, words: string) =>
  until(async () => {
    const { status, codes, text } = await asked(url);
    if (status === 200) return undefined;
    expect([status, codes]).toEqual([503, [code]]);
    return text.includes(words) ? text : undefined;
  });
const green = (url: string) => until(async () => ((await asked(url)).status === 200 ? true : undefined));

async function ready(more: Partial<ListenerOptions> = {}): Promise<{ url: string; health: string }> {
  const event = await start(more);
  if (event.type !== 'ready' || event.healthUrl === undefined) throw new Error('no health');
  await green(event.healthUrl);
  return { url: event.url, health: event.healthUrl };
}

let sent = 0;
/** A delivery of a current event, by the clock of the service. */
async function deliver(url: string, secret = SECRET): Promise<number> {
  const data = { envelopeId: `env_${sent++}` };
  const body = JSON.stringify({ event: 'envelope.sent', timestamp: new Date().toISOString(), data });
  return post(url, body, signed(body, secret));
}

async function occupy(port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer((_, response) => response.end()).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: portOf(server) };
}

describe('a watched listener turns red, and green again', () => {
  // The tunnel is a shell command, and Windows doesn't delete a folder with open files.
  it.skipIf(isWindows)(
    "reports and asks again for rejected deliveries when the journal can't be written",
    async () => {
      const { url, health } = await ready();
      expect(await deliver(url)).toBe(200);
      await rename(join(folder, 'events'), join(folder, 'away'));
      await writeFile(join(folder, 'events'), '');
      await red(health, 'journal', 'part of the path is not a folder');
      await rm(join(folder, 'events'));
      await rename(join(folder, 'away'), join(folder, 'events'));
      await green(health);
      expect(await deliver(url)).toBe(200);
    },
  );

  it('creates the folder of the journal again when it is gone', async () => {
    const { url, health } = await ready();
    await rm(join(folder, 'events'), { recursive: true });
    await systemClock.sleep(2_100);
    await green(health);
    expect(await deliver(url)).toBe(200);
  });

  it.skipIf(isWindows)('starts its tunnel again when it is gone', async () => {
    const lives = join(folder, 'lives');
    await writeFile(lives, '');
    const tunnel = `test -e ${lives} || exit 3; echo https://odd-words.example.com; while test -e ${lives}; do sleep 0.05; done; echo canarytoken; exit 4`;
    const { health } = await ready({ tunnel });
    await until(() => events.find(({ type }) => type === 'tunnel'));
    await rm(lives);
    expect(await red(health, 'tunnel', 'The tunnel stopped: it exited with 4.')).not.toContain('canarytoken');
    await until(() => events.find((one) => one.type === 'warning' && / 2 s\.$/.test(one.message)));
    await writeFile(lives, '');
    await green(health);
    await until(() => (events.filter(({ type }) => type === 'tunnel').length === 2 ? true : undefined));
  });

  it('reports a forward that is delayed for over 30 s', async () => {
    let status = 500;
    const app = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(status).end());
    }).listen(0, '127.0.0.1');
    await once(app, 'listening');
    const port = portOf(app);
    const { url, health } = await ready({ forwardTo: [`http://127.0.0.1:${port}/hooks?key=canary`] });
    await deliver(url);
    await until(() => events.find(({ type }) => type === 'forward'));
    await green(health);
    skew = 31_000;
    const text = await red(health, 'forward', `http://127.0.0.1:${port}/hooks has been pending for `);
    expect(text).not.toContain('canary');
    status = 200;
    await green(health);
    app.close();
  });

  it('reports a wrong secret', async () => {
    let secrets = [SECRET];
    const { url, health } = await ready({ secretsFor: () => Promise.resolve({ secrets, others: [] }) });
    expect(await deliver(url)).toBe(200);
    secrets = ['canarysecret-another-one'];
    for (let n = 0; n < 3; n++) expect(await deliver(url)).toBe(401);
    await red(health, 'signature', 'and 3 deliveries were refused: the signature does not match');
    secrets = [SECRET];
    await deliver(url);
    await green(health);
  });

  it('reports a wrong clock, compared with deliveries or with the service', async () => {
    const serviceTime = () => Promise.resolve(Date.now());
    const { url, health } = await ready({ health: { port: 0, serviceTime, askEveryMs: 1_000 } });
    skew = -10 * MINUTE;
    await deliver(url);
    await red(health, 'clock', '10 minutes behind the service');
    skew = 0;
    await green(health);
    skew = 20 * MINUTE;
    await red(health, 'clock', '20 minutes ahead of the service');
    skew = 0;
    await green(health);
  });

  it('waits for its port when it is in use', async () => {
    const [taken, free] = [await occupy(), await occupy()];
    free.server.close();
    const health = { port: free.port, serviceTime: undefined, askEveryMs: undefined };
    await start({ port: taken.port, health }, 'warning');
    const url = `http://127.0.0.1:${free.port}/healthz`;
    expect(events).toMatchObject([{ type: 'warning', message: expect.stringContaining(url) as unknown }]);
    await red(url, 'port', `Can't listen on 127.0.0.1:${taken.port}: the port is already in use.`);
    taken.server.close();
    await green(url);
    expect(await until(() => events.find(({ type }) => type === 'ready'))).toMatchObject({ healthUrl: url });
  });
});

describe('the health port', () => {
  it('stops the listener if it is in use, and shows how to choose another', async () => {
    const { server, port } = await occupy();
    await expect(
      Promise.all([
        start({ health: { port, serviceTime: undefined, askEveryMs: undefined } }),
        Promise.resolve().then(() => run),
      ]),
    ).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(`127.0.0.1:${port}`) as unknown,
    });
    run = Promise.resolve();
    server.close();
  });

  it('answers GET and HEAD, has metrics, and no other path', async () => {
    const { url, health } = await ready();
    await deliver(url);
    const metrics = await fetch(new URL('/metrics', health));
    expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await metrics.text()).toContain('\nesign_listen_deliveries_total{result="verified"} 1\n');
    const answers = [
      await fetch(health, { method: 'HEAD' }),
      await fetch(health, { method: 'POST' }),
      await fetch(new URL('/', health)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 405, 404]);
  });
});
