import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { NetworkError, UsageError } from '../../src/kernel/errors.ts';
import { findAddress, openTunnel } from '../../src/webhooks/tunnel.ts';
import { fakeClock } from '../support/clock.ts';

describe('the address in the output of a tunnel', () => {
  it.each([
    [
      'cloudflared',
      `INF Thank you for trying Cloudflare Tunnel. By using it you accept https://www.cloudflare.com/website-terms/
INF a named tunnel: https://developers.cloudflare.com/cloudflare-one/connections/connect-apps
INF |  Your quick Tunnel has been created! Visit it at:  |
INF |  https://four-odd-words-here.trycloudflare.com                 |
`,
      'https://four-odd-words-here.trycloudflare.com',
    ],
    [
      'ngrok --log stdout',
      't=2026-01-02 lvl=info msg="started tunnel" addr=http://localhost:4242 url=https://ab12.ngrok-free.app\n',
      'https://ab12.ngrok-free.app',
    ],
    [
      'localhost.run',
      '** see https://localhost.run/docs/ and https://admin.localhost.run/ **\nab12.lhr.life tunneled, https://ab12.lhr.life\n',
      'https://ab12.lhr.life',
    ],
    [
      'older host names',
      'f27f.localhost.run tunneled, https://f27f.localhost.run\n',
      'https://f27f.localhost.run',
    ],
    ['serveo', 'Forwarding HTTP traffic from https://ab12.serveo.net\r\n', 'https://ab12.serveo.net'],
    [
      'a complete address',
      'go to https://hooks.example.com:8443/webhooks now',
      'https://hooks.example.com:8443',
    ],
    ['brackets', '{"url":"https://json.example"}', 'https://json.example'],
    ['another path', 'read https://example.com/manual first\n', undefined],
    ['one that may be incomplete', 'https://half.examp', undefined],
    ['http', 'http://plain.example \n', undefined],
    ['nonsense', 'https:// https://% \n', undefined],
  ])('is found for %s', (_, text, expected) => {
    expect(findAddress(text, '/webhooks')).toBe(expected);
  });
});

describe.skipIf(process.platform === 'win32')('a tunnel', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'esign-tunnel-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const open = (line: string, clock: Clock = systemClock, signal = new AbortController().signal) =>
    openTunnel(`cd '${folder}'; ${line}`, { listensAt: 'http://0.0.0.0:4242/webhooks', clock, signal });
  /** The process ID that the command wrote into a file, once it is there. */
  async function written(name: string): Promise<string> {
    for (;;) {
      const text = await readFile(join(folder, name), 'utf8').catch(() => '');
      if (text.endsWith('\n')) return text.trim();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  async function gone(pid: string): Promise<void> {
    for (;;) {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      if (stat === '' || / [ZX] /.test(stat)) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  it("receives the listener's address, shows its own, and is stopped with the listener after a grace period", async () => {
    const tunnel = await open(
      'echo "$$ {port} {url}" > args; echo noise; printf "\\033[32mhttps://a.example\\033[0m\\n" >&2; trap "echo bye > bye; exit" TERM; while :; do sleep 0.05; done',
    );
    expect(tunnel.url).toBe('https://a.example/webhooks');
    const [pid = '', ...rest] = (await written('args')).split(' ');
    expect(rest).toEqual(['4242', 'http://127.0.0.1:4242']);
    await tunnel.close();
    expect(await written('bye')).toBe('bye');
    await gone(pid);
  });

  it("is killed with its children if it doesn't stop", async () => {
    const impatient: Clock = {
      ...systemClock,
      sleep: (ms, signal) => (ms > 5_000 ? systemClock.sleep(ms, signal) : Promise.resolve()),
    };
    const tunnel = await open(
      'trap "" TERM; (trap "" TERM; sleep 1000) & echo $! > child; echo https://a.example; while :; do sleep 0.05; done',
      impatient,
    );
    const pid = await written('child');
    await tunnel.close();
    await gone(pid);
  });

  it.each([
    ['exit 3', NetworkError, 'it exited with 3. It printed nothing.'],
    [
      'echo "no route to the edge" >&2; exit 1',
      NetworkError,
      'it exited with 1. Its output:\nno route to the edge',
    ],
    ['no-such-tunnel-program http {port}', UsageError, 'it exited with 127. Its output:'],
  ])('causes an error with its last output if it ends early: %s', async (line, kind, words) => {
    const error = await open(line).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(kind);
    expect(String(error)).toContain(words);
  });

  it('causes an error and is stopped if it shows no address in time', async () => {
    await writeFile(join(folder, 'late'), '');
    const error = await open('echo hello; sleep 1000', fakeClock()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NetworkError);
    expect(String(error)).toContain('within 30 seconds');
  });

  it('reports a later failure', async () => {
    const tunnel = await open(
      'echo https://a.example; while [ ! -e stop ]; do sleep 0.05; done; echo lost; exit 7',
    );
    expect(tunnel.broken.aborted).toBe(false);
    await writeFile(join(folder, 'stop'), '');
    await new Promise((resolve) => {
      tunnel.broken.addEventListener('abort', resolve);
    });
    expect(String(tunnel.broken.reason)).toContain('it exited with 7. Its output:\nhttps://a.example\nlost');
    await tunnel.close();
  });

  it('is not waited for when we are interrupted', async () => {
    const stop = new AbortController();
    const opening = open('echo $$ > pid; sleep 1000', systemClock, stop.signal);
    const pid = await written('pid');
    stop.abort(new Error('Ctrl-C'));
    await expect(opening).rejects.toThrow('Ctrl-C');
    await gone(pid);
  });
});
