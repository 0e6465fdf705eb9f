import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home } from '../support/cli.ts';
import { canMount } from '../support/disk-faults.ts';
import { eventually } from '../support/eventually.ts';
import { payload, post, signed } from '../support/webhooks.ts';

const SECRET = 'canarysecret-0123456789';
const home = new Home();
beforeAll(() => writeFile(home.path('webhook.secret'), SECRET));
afterAll(() => home.close());

const LISTEN = 'listen --port 0 --secret-file webhook.secret --health-port 0 --json'.split(' ');

/** Waits for a response with this status; returns its body. */
function health(url: unknown, status: number): Promise<Record<string, unknown>> {
  return eventually(async () => {
    const reply = await fetch(String(url));
    const body: unknown = await reply.json();
    if (reply.status === status && isRecord(body)) return body;
    throw new Error(`${reply.status}, not ${status}`);
  });
}

describe('listen --health-port', () => {
  it('prints the health URL, and survives its tunnel', async () => {
    const lives = home.path('lives');
    await writeFile(lives, '');
    const tunnel = `echo https://odd-words.example.com; while test -e ${lives}; do sleep 0.05; done; exit 4`;
    const listening = home.start`${LISTEN} --tunnel ${tunnel}`;
    const { healthUrl } = await listening.object();
    expect(await listening.object()).toMatchObject({ type: 'tunnel' });
    expect(await health(healthUrl, 200)).toEqual({ ok: true, reasons: [] });
    await rm(lives);
    expect(await health(healthUrl, 503)).toMatchObject({ ok: false, reasons: [{ code: 'tunnel' }] });
    expect(await listening.object()).toMatchObject({ type: 'warning' });
    await writeFile(lives, '');
    await health(healthUrl, 200);
    expect(await listening.stop()).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('waits for a port in use, and still stops on a signal; refuses its own port', async () => {
    const other = home.start(LISTEN);
    const { url } = await other.object();
    const { port } = new URL(String(url));
    const waiting = home.start(LISTEN.with(LISTEN.indexOf('--port') + 1, port));
    const { type, message } = await waiting.object();
    expect([type, message]).toEqual(['warning', expect.stringContaining('Retrying every second')]);
    const [healthUrl] = /http:\S+\/healthz/.exec(String(message)) ?? [];
    expect(await health(healthUrl, 503)).toMatchObject({ reasons: [{ code: 'port' }] });
    expect(await waiting.stop()).toEqual({ code: null, signal: 'SIGTERM' });
    await other.stop();
    expect((await home.run`listen --port ${port} --health-port ${port} --no-verify`).code).toBe(2);
  });

  it.skipIf(process.platform === 'win32')('runs like the systemd unit', async () => {
    const unit = await readFile(join(import.meta.dirname, '../../docs/systemd/esign-listen.service'), 'utf8');
    const [, line = ''] = /^ExecStart=\/usr\/bin\/esign (.*)$/m.exec(unit) ?? [];
    const args = line
      .replaceAll('%d', home.folder)
      .replace(/(port) \d+/g, '$1 0')
      .split(' ');
    const listening = home.start`${args} --drain 1s --json`;
    const { url, healthUrl } = await listening.object();
    const body = payload('env_unit');
    expect(await post(url, body, signed(body, SECRET))).toBe(200);
    await health(healthUrl, 200);
    await listening.stop();
  });

  it.skipIf(!canMount)(
    'is unhealthy while the disk is full, reports rejected deliveries, and recovers without a restart',
    async () => {
      const state = home.path('small');
      await mkdir(state);
      const mount = 'mount -t tmpfs -o size=128k none "$0" && exec "$@"';
      const under = ['unshare', '-Urm', 'bash', '-c', mount, state];
      const listening = home.start(LISTEN, { under, env: { ESIGN_STATE_DIR: state } });
      const { url, healthUrl } = await listening.object();
      const disk = `/proc/${listening.child.pid}/root${state}`;
      await health(healthUrl, 200);
      await writeFile(`${disk}/filler`, Buffer.alloc(128 * 1024)).catch(() => undefined);
      const full = await health(healthUrl, 503);
      expect(full).toMatchObject({
        reasons: [{ code: 'journal', message: expect.stringContaining('the disk is full') as unknown }],
      });
      const body = payload('env_1', 'envelope.sent', { filler: 'x'.repeat(8_000) });
      expect(await post(url, body, signed(body, SECRET))).toBe(500);
      expect(await listening.object()).toMatchObject({
        type: 'warning',
        message: expect.stringContaining('1 delivery was rejected with 500') as unknown,
      });
      await rm(`${disk}/filler`);
      await health(healthUrl, 200).catch(() => undefined);
      expect(await post(url, body, signed(body, SECRET))).toBe(200);
      await health(healthUrl, 200);
      await listening.stop();
    },
  );
});
