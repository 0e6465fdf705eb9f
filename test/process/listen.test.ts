import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { canMount, needsInjection } from '../support/disk-faults.ts';
import { eventually } from '../support/eventually.ts';
import { seeded } from '../support/seeded.ts';
import { payload, post, signed } from '../support/webhooks.ts';

/* What a listener keeps despite kills and full disks, and how it ends. */
const SECRET = 'canary-secret-0123456789';
const home = new Home({ ESIGN_WEBHOOK_SECRET: SECRET });

const LISTEN = argv`listen --port 0 --json`;
/** One thread for the disk, so that its calls are ordered; strace runs detached (-D), so that signals reach the listener. */
const ONE_THREAD = { UV_THREADPOOL_SIZE: '1' };
const send = (url: unknown, body: string) => post(url, body, signed(body, SECRET));

/** The deliveries in the journal of a state folder, as the command lists them, oldest first. */
async function kept(state: string): Promise<Record<string, unknown>[]> {
  const run = await home.run(argv`events list --all --json`, { env: { ESIGN_STATE_DIR: state } });
  return [JSON.parse(run.stdout) as unknown].flat().filter(isRecord).reverse();
}

/** A small disk as the state folder of a listener; returns the folder as the listener sees it. */
async function smallDisk(name: string) {
  const state = home.path(name);
  await mkdir(state);
  const mount = 'mount -t tmpfs -o size=128k none "$0" && exec "$@"';
  const under = ['unshare', '-Urm', 'bash', '-c', mount, state];
  const listener = home.start([...LISTEN, '--health-port', '0'], { under, env: { ESIGN_STATE_DIR: state } });
  const ready = await listener.object();
  return {
    listener,
    url: ready.url,
    healthUrl: ready.healthUrl,
    disk: `/proc/${listener.child.pid}/root${state}`,
  };
}

describe('a listener that is killed repeatedly under load', () => {
  const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 2 ** 32);
  const KILLS = Number(process.env.LISTEN_KILLS ?? 2);
  const random = seeded(SEED);
  const own = { ESIGN_STATE_DIR: home.pathLater('kills') };
  /** What was sent, with the sender's response; null without a response. */
  const sent = new Map<string, number | null>();

  function answerOf(url: string, body: string, agent: Agent): Promise<number | null> {
    return new Promise((resolve) => {
      const headers = { ...signed(body, SECRET), 'Content-Length': Buffer.byteLength(body) };
      const sending = request(url, { method: 'POST', headers, agent }, (response) => {
        // A status line counts as a response, even if the rest is truncated.
        response.resume().on('error', () => undefined);
        response.on('close', () => resolve(response.statusCode ?? null));
      });
      sending.on('error', () => resolve(null)).end(body);
    });
  }

  /** Sends over many connections until the listener is gone; kills it in between. */
  async function round(): Promise<void> {
    const listener = home.start([...LISTEN, '--events', 'declined'], { env: own });
    const url = String((await listener.object()).url);
    const agent = new Agent({ keepAlive: true });
    const wanted = 100 + random() * 300;
    let [answered, isAlive] = [0, true];
    const sender = async () => {
      while (isAlive) {
        const filler = 'é🖋\u0000'.repeat(Math.floor(random() * random() * 300));
        const body = payload(`env_${sent.size}`, 'envelope.sent', { filler });
        sent.set(body, null);
        const answer = await answerOf(url, body, agent);
        sent.set(body, answer);
        if (answer === null) isAlive = false;
        else if (++answered > wanted) listener.child.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 24 }, sender));
    await listener.stop('SIGKILL');
    agent.destroy();
  }

  it('has each acknowledged delivery in its journal, once, and nothing else', async () => {
    process.stdout.write(`listen kills: FAULT_SEED=${SEED} LISTEN_KILLS=${KILLS}\n`);
    for (let kill = 0; kill < KILLS; kill++) await round();
    const stored = (await kept(own.ESIGN_STATE_DIR)).map(({ body }) => JSON.stringify(body));
    const answered = [...sent].filter(([, answer]) => answer !== null);
    expect(new Set(answered.map(([, answer]) => answer))).toEqual(new Set([200]));
    expect(answered.length).toBeGreaterThan(KILLS * 100);
    const known = new Set(stored);
    expect(answered.filter(([body]) => !known.has(body))).toEqual([]);
    expect(stored.filter((body) => !sent.has(body))).toEqual([]);
    expect(stored.length).toBe(known.size);
    // Incomplete lines of the last kill are skipped, and the next listener recognizes the duplicates.
    const again = home.start(LISTEN, { env: own });
    const { url } = await again.object();
    expect(await send(url, answered[0]?.[0] ?? '')).toBe(200);
    let line = await again.object();
    while (line.type !== 'delivery') line = await again.object();
    expect(line).toMatchObject({ duplicate: true });
    await again.stop();
  });
});

describe('forwards of a listener that was killed', () => {
  it('are sent by the next listener', async () => {
    const own = new Home({ ESIGN_WEBHOOK_SECRET: SECRET });
    const to = argv`--forward-to http://127.0.0.1:9/hooks`;
    const first = own.start([...LISTEN, ...to]);
    const { url } = await first.object();
    for (const id of ['env_a', 'env_a', 'env_b'])
      await send(url, payload(id, 'envelope.sent', { at: Math.random() }));
    let delivered = 0;
    while (delivered < 3) delivered += Number((await first.object()).type === 'delivery');
    await first.stop('SIGKILL');
    const second = own.start([...LISTEN, ...to]);
    const ids = new Set<unknown>();
    while (ids.size < 2) {
      const line = await second.object();
      if (line.type === 'forward') ids.add(line.envelopeId);
    }
    await second.insist();
    expect([...ids].sort()).toEqual(['env_a', 'env_b']);
  });
});

describe('a 200', needsInjection, () => {
  it('is sent after the delivery is on disk', async () => {
    const trace = home.path('trace');
    const calls = 'trace=openat,write,writev,pwrite64,fdatasync,fsync,sendto,sendmsg';
    const under = ['strace', '-D', '-f', '-qq', '-yy', '-s', '4096', '-o', trace, '-e', calls];
    const listener = home.start(LISTEN, { under, env: ONE_THREAD });
    const { url } = await listener.object();
    for (const n of [1, 2, 3]) expect(await send(url, payload(`env_sync_${n}`))).toBe(200);
    await listener.stop();
    const log = (await readFile(trace, 'utf8')).split('\n');
    for (const n of [1, 2, 3]) {
      const written = log.findIndex((line) => /\.jsonl>/.test(line) && line.includes(`env_sync_${n}`));
      const synced = log.findIndex((line, at) => at > written && /fdatasync.*= 0/.test(line));
      const answered = log.findIndex((line, at) => at > written && line.includes('HTTP/1.1 200'));
      expect([written >= 0, synced > written, answered > synced]).toEqual([true, true, true]);
    }
  });
});

describe('a disk that cannot be written', () => {
  it.each(['below a file', 'of the system'])('makes listen exit with 2: a folder %s', async (kind) => {
    await writeFile(home.path('file'), '');
    const folder = kind === 'below a file' ? home.path('file', 'state') : '/sys/esign';
    const run = await home.run(LISTEN, { env: { ESIGN_STATE_DIR: folder } });
    const error = reportedError(run);
    expect([run.code, error.code]).toEqual([2, 'USAGE']);
    expect(error.message).toMatch(/: (permission denied|part .* not a folder)/);
  });

  it(
    'is reported with its cause while it is full; deliveries are stored when they are sent again',
    needsInjection,
    async () => {
      // The first is that of the file's first line, the second that of a delivery.
      const under =
        'strace -D -f -qq --seccomp-bpf -o /dev/null -e trace=fdatasync --inject=fdatasync:error=ENOSPC:when=3..5'.split(
          ' ',
        );
      const state = home.path('full');
      const listener = home.start(LISTEN, { under, env: { ...ONE_THREAD, ESIGN_STATE_DIR: state } });
      const { url } = await listener.object();
      const answers = [];
      for (const n of [1, 2, 2, 2, 2, 3]) answers.push(await send(url, payload(`env_${n}`)));
      expect(answers).toEqual([200, 500, 500, 500, 200, 200]);
      const lines = [];
      while (lines.length < 4) lines.push(await listener.object());
      const message = (pattern: RegExp): unknown => expect.stringMatching(pattern);
      expect(lines).toMatchObject([
        { type: 'delivery', envelopeId: 'env_1' },
        { type: 'warning', message: message(/^1 delivery .* 500, .*: the disk is full/) },
        { type: 'delivery', envelopeId: 'env_2', duplicate: false },
        { type: 'delivery', envelopeId: 'env_3' },
      ]);
      const stopped = listener.stop();
      const warning = { type: 'warning', message: message(/^2 deliveries .* 500/) };
      expect(await listener.object()).toMatchObject(warning);
      await stopped;
      expect((await kept(state)).map(({ envelopeId }) => envelopeId)).toEqual(['env_1', 'env_2', 'env_3']);
    },
  );

  it.skipIf(!canMount)(
    'makes it unhealthy; its journal has each delivery that got a 200 and no other, even with truncated lines',
    async () => {
      const { listener, url, healthUrl, disk } = await smallDisk('small');
      const health = async () => {
        const state: unknown = await (await fetch(String(healthUrl))).json();
        return state;
      };
      expect(await health()).toMatchObject({ ok: true });
      await writeFile(`${disk}/filler`, Buffer.alloc(64 * 1024));
      const taken: string[] = [];
      let [answer, n] = [200, 0];
      const next = async () => {
        const body = payload(`env_${n++}`, 'envelope.sent', { filler: 'x'.repeat(2_500) });
        answer = await send(url, body);
        if (answer === 200) taken.push(body);
      };
      while (answer === 200) await next();
      for (let more = 0; more < 3; more++) await next();
      expect(answer).toBe(500);
      await eventually(async () =>
        expect(await health()).toMatchObject({ ok: false, reasons: [{ code: 'journal' }] }),
      );
      await rm(`${disk}/filler`);
      for (let more = 0; more < 3; more++) await next();
      expect(answer).toBe(200);
      await eventually(async () => expect(await health()).toMatchObject({ ok: true }));
      const stored = (await kept(disk)).map(({ body }) => JSON.stringify(body));
      await listener.stop();
      expect(stored.toSorted()).toEqual(taken.toSorted());
      expect(taken.length).toBeGreaterThan(6);
    },
  );
});

describe.skipIf(process.platform === 'win32')('a tunnel', () => {
  /** Replaces cloudflared: prints its address and runs until it is stopped, with a child that ignores SIGTERM. */
  const FAKE = `#!/bin/sh
trap "exit 0" TERM
echo "read https://developers.example.com/manual" >&2
(trap "" TERM; exec sleep 1000) &
echo "$!" > child
echo "$$" > pid
echo "|  https://odd-words.example.com  |" >&2
while [ ! -e break ]; do sleep 0.05; done
echo "connection lost" >&2
exit 4
`;
  const start = async () => {
    await writeFile(home.path('fake'), FAKE, { mode: 0o755 });
    await rm(home.path('break'), { force: true });
    const listener = home.start([...LISTEN, '--tunnel', 'exec ./fake tunnel --url {url}']);
    expect(await listener.object()).toMatchObject({ type: 'ready' });
    expect(await listener.object()).toEqual({
      type: 'tunnel',
      url: 'https://odd-words.example.com/webhooks',
    });
    return listener;
  };
  async function isGone(name: string): Promise<boolean> {
    const pid = (await readFile(home.path(name), 'utf8')).trim();
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    return stat === '' || / [ZX] /.test(stat);
  }

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'prints its address, and is stopped with listen on %s',
    async (signal) => {
      const listener = await start();
      expect(await listener.stop(signal)).toEqual({ code: null, signal });
      await eventually(async () =>
        expect([await isGone('pid'), await isGone('child')]).toEqual([true, true]),
      );
    },
  );

  it('ends listen with 8 when it ends, and its output is shown', async () => {
    const listener = await start();
    await writeFile(home.path('break'), '');
    expect(await listener.object()).toMatchObject({ type: 'summary' });
    expect((await listener.ended).code).toBe(8);
    expect(jsonLines(await listener.stderr)).toMatchObject([
      {
        error: {
          code: 'NETWORK',
          details: {
            output: expect.arrayContaining([expect.stringContaining('connection lost')]) as unknown,
          },
        },
      },
    ]);
  });

  it("ends listen with 8 if the program doesn't exist", async () => {
    const run = await home.run([...LISTEN, '--tunnel', 'no-such-tunnel']);
    expect([run.code, run.stderr]).toEqual([8, expect.stringContaining('exited with 127')]);
  });
});

describe('a signal', () => {
  it('stops events drill and trigger immediately, even during a single delivery', async () => {
    const silent = await import('../support/receivers.ts').then(({ serve }) => serve(() => asked()));
    let asked: () => void = () => undefined;
    for (const words of [argv`events drill`, argv`events trigger signed`]) {
      const isAsked = new Promise<void>((resolve) => {
        asked = resolve;
      });
      const running = home.start([...words, '--to', silent.url]);
      await isAsked;
      expect(await running.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
      expect(await running.stderr).toBe('');
    }
    await silent.close();
  });

  it.skipIf(process.platform === 'win32')('stops the systemd unit', async () => {
    await writeFile(home.path('webhook.secret'), SECRET);
    const unit = await readFile(join(import.meta.dirname, '../../docs/systemd/esign-listen.service'), 'utf8');
    const [, line = ''] = /^ExecStart=\/usr\/bin\/esign (.*)$/m.exec(unit) ?? [];
    const args = line.replaceAll('%d', home.folder).replace(/(port) \d+/g, '$1 0');
    const listener = home.start([...args.split(' '), '--json']);
    const { url, healthUrl } = await listener.object();
    expect(await send(url, payload('env_unit'))).toBe(200);
    expect((await fetch(String(healthUrl))).status).toBe(200);
    expect(await listener.stop()).toEqual({ code: null, signal: 'SIGTERM' });
  });
});
