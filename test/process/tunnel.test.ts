import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Home, jsonLines } from '../support/cli.ts';

const home = new Home();
/** Replaces cloudflared: prints its address and runs until it is stopped. */
const FAKE = `#!/bin/sh
trap "exit 0" TERM
echo "read https://developers.example.com/manual" >&2
(trap "" TERM; exec sleep 1000) &
echo "$!" > child
echo "$$" > pid
echo "$@" > args
echo "|  https://odd-words.example.com  |" >&2
while [ ! -e break ]; do sleep 0.05; done
echo "connection lost" >&2
exit 4
`;
beforeAll(() => writeFile(home.path('fake'), FAKE, { mode: 0o755 }));
afterEach(() => rm(home.path('break'), { force: true }));
afterAll(() => home.close());

const start = () =>
  home.start`listen --port 0 --no-verify --json --tunnel 'exec ./fake tunnel --url {url} # {port}'`;
/** Waits until the tunnel and its child, which ignores SIGTERM, have ended. */
async function gone(): Promise<void> {
  for (const name of ['pid', 'child']) await ended((await readFile(home.path(name), 'utf8')).trim());
}
async function ended(pid: string): Promise<void> {
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (stat === '' || / [ZX] /.test(stat)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe.skipIf(process.platform === 'win32')('listen --tunnel', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'prints the public address, and stops the tunnel on %s',
    async (signal) => {
      const listening = start();
      const { url } = await listening.object();
      expect(await listening.object()).toMatchObject({ type: 'warning' });
      expect(await listening.object()).toEqual({
        type: 'tunnel',
        url: 'https://odd-words.example.com/webhooks',
      });
      expect(await readFile(home.path('args'), 'utf8')).toBe(`tunnel --url ${new URL(String(url)).origin}\n`);
      expect((await fetch(String(url), { method: 'POST', body: '{"event":"envelope.sent"}' })).status).toBe(
        200,
      );
      expect(await listening.stop(signal)).toEqual({ code: null, signal });
      await gone();
    },
  );

  it('exits with 8 when the tunnel fails, and shows its output', async () => {
    const listening = start();
    for (let n = 0; n < 3; n++) await listening.object();
    await writeFile(home.path('break'), '');
    expect(await listening.object()).toMatchObject({ type: 'summary' });
    expect((await listening.ended).code).toBe(8);
    expect(jsonLines(await listening.stderr)).toMatchObject([
      { error: { code: 'NETWORK', message: expect.stringContaining('connection lost') as unknown } },
    ]);
  });

  it("exits with 2 if the program doesn't exist", async () => {
    const run = await home.run`listen --port 0 --no-verify --tunnel no-such-tunnel`;
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('Starting the tunnel');
    expect(run.stderr).toContain('exited with 127');
  });
});
