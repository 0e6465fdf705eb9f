import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND, Home } from '../support/cli.ts';
import { openScreen, type Screen } from '../support/pty.ts';
import { portOf } from '../support/server.ts';
import { payload, post } from '../support/webhooks.ts';

const home = new Home();
let status = 500;
const app = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(status).end());
});
let appUrl: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    app.listen(0, '127.0.0.1', resolve);
  });
  appUrl = `127.0.0.1:${portOf(app)}/app`;
  // Replaces the browser: records the URL it is given.
  await writeFile(home.path('browser'), '#!/bin/sh\necho "$1" > "$0.opened"\n', { mode: 0o755 });
});
afterAll(async () => {
  app.close();
  await home.close();
});

function listen(...more: string[]): Screen {
  const [file, ...before] = COMMAND;
  const args = ['listen', '--port', '0', '--no-verify', '--drain', '1s', ...more];
  const env = { ...home.env, BROWSER: home.path('browser') };
  return openScreen(file, [...before, ...args], { env, columns: 200 });
}

async function address(screen: Screen): Promise<string> {
  await screen.shows('Keys: ');
  return /Listening at (\S+)\./.exec(screen.text())?.[1] ?? '';
}

describe.skipIf(process.platform === 'win32')('the keys of listen on a terminal', () => {
  it('retries pending forwards immediately with r, and stops as usual with Ctrl-C', async () => {
    const screen = listen('--forward-to', appUrl);
    const url = await address(screen);
    await screen.shows('Keys: r retries pending forwards, o opens the inspector.');
    screen.type('r');
    await screen.shows('No forwards are pending.');
    expect(await post(url, payload('env_held'))).toBe(200);
    await screen.shows('attempt 3, next in 5 s');
    status = 200;
    screen.type('r');
    await screen.shows('Retrying 1 forward.');
    await screen.shows('attempt 4');
    expect(screen.text()).toMatch(/200 in \d+ ms, attempt 4/);
    expect(screen.text()).not.toContain('next in 15 s');
    screen.type('\u0003');
    await screen.ended;
    expect(screen.text()).toContain('Stopped. 1 received');
  });

  it('opens the inspector with o, and starts it with the first press, through a one-time link', async () => {
    const screen = listen();
    const url = await address(screen);
    expect(screen.text()).not.toContain('r retries');
    expect(await post(url, payload('env_before'))).toBe(200);
    screen.type('o');
    await screen.shows('Opened the inspector: http://127.0.0.1:');
    const token = /inspector: (http\S+)/.exec(screen.text())?.[1] ?? '';
    let opened = '';
    while (opened === '') opened = await readFile(home.path('browser.opened'), 'utf8').catch(() => '');
    expect(opened).not.toContain(new URL(token).pathname);
    // Like a browser that a program opens; fetch would send other headers.
    const headers = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' };
    const open = async () => {
      const reply = await request(opened.trim(), { headers });
      await reply.body.dump();
      return reply;
    };
    const first = await open();
    expect([first.statusCode, new URL(String(first.headers.location), token).href]).toEqual([302, token]);
    expect((await open()).statusCode).toBe(403);
    expect((await fetch(token)).status).toBe(200);
    screen.type('\u0003');
    await screen.ended;
  });

  it('include Ctrl-S, which stops the output, but not the listener', async () => {
    const screen = listen('--no-input');
    await screen.shows('Listening at ');
    const [, url = ''] = /Listening at (\S+)\./.exec(screen.text()) ?? [];
    screen.type('\u0013');
    const ids = Array.from({ length: 20 }, (_, n) => `env_stalled_${n}`);
    for (const id of ids) expect(await post(url, payload(id))).toBe(200);
    screen.type('\u0011');
    await screen.shows('env_stalled_19');
    expect(screen.text().match(/env_stalled_\d+/g)).toEqual(ids);
    screen.type('\u0003');
    await screen.ended;
    expect(screen.text()).toContain('Stopped. 20 received');
  });

  it('are not read in the background, where reading them would stop the process', async () => {
    const [file = '', ...before] = COMMAND.map((word) => `'${word}'`);
    const line = `set -m; ${[file, ...before].join(' ')} listen --port 0 --no-verify & read -rn 1; jobs; kill %1; wait; echo over`;
    const screen = openScreen('bash', ['--norc', '-c', line], { env: home.env, columns: 200 });
    await screen.shows('Listening at ');
    screen.type('x');
    await screen.shows('over');
    expect(screen.text()).not.toMatch(/Keys: |Stopped\s+/);
  });
});
