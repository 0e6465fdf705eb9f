import { type ChildProcess, spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { DRILL_CHECKS } from '../../src/webhooks/drill/checks.ts';
import { drill } from '../../src/webhooks/drill/drill.ts';
import { DrillRequests } from '../../src/webhooks/drill/requests.ts';
import { sign } from '../../src/webhooks/receive/signature.ts';
import { portOf } from '../support/server.ts';
import { needs } from '../support/tools.ts';
import { snippetsOf } from './docs/page.ts';

/* Each application of docs/receivers.md, as shown on the page, passes every check. */
const PAGE = join(import.meta.dirname, '../../docs/receivers.md');
const APPLICATIONS = [
  ['js', 'node receiver.mjs', []],
  ['python', 'python3 receiver.py', ['python3']],
  ['go', 'go run receiver.go', ['go']],
  ['php', 'php -S 127.0.0.1:PORT receiver.php', ['php']],
] as const;
const secret = randomBytes(16).toString('hex');

let folder: string;
let child: ChildProcess | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-receiver-'));
});
afterEach(async () => {
  // Including its child processes.
  if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  return port;
}

async function answers(port: number): Promise<void> {
  for (const end = Date.now() + 150_000; Date.now() < end; await systemClock.sleep(100)) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
  }
  throw new Error('it never listened');
}

/** Starts the page's application in this language; returns its address. */
async function start(language: string, command: string): Promise<string> {
  const [snippet] = snippetsOf(PAGE, await readFile(PAGE, 'utf8')).filter((one) => one.language === language);
  const file = /\b(receiver\.\w+):/.exec(snippet?.text ?? '')?.[1] ?? '';
  await writeFile(join(folder, file), snippet?.text ?? '');
  const port = await freePort();
  const [program = '', ...args] = command.replace('PORT', String(port)).split(' ');
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GOFLAGS: '-mod=mod',
    WEBHOOK_SECRET: secret,
    PORT: String(port),
    PHP_CLI_SERVER_WORKERS: '4',
  };
  child = spawn(program, args, { cwd: folder, env, stdio: 'ignore', detached: true });
  await answers(port);
  return `http://127.0.0.1:${port}/webhooks`;
}

/** Correctly signed payloads whose ID is unusable, so that they are stored under the hash of their bytes. */
const WITHOUT_ID = ['null', '1', '"x"', '[]', '{}', '{"id":5}', '{"id":true}', '{"id":{}}', '{"id":null}'];
WITHOUT_ID.push('{"id":"","data":7}');
/** JSON that is nested too deeply for some parsers. */
const DEEP = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;

/** Sends a request with these lines of its head, and returns the status. Leaves the connection open, as an attacker would. */
async function statusOf(url: string, head: readonly string[], body: string): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    socket.write([`POST ${pathname} HTTP/1.1`, `Host: ${hostname}`, ...head, '', body].join('\r\n'));
    const received: unknown[] = await once(socket, 'data', { signal: AbortSignal.timeout(60_000) });
    return Number(/^HTTP\/1\.\d (\d+)/.exec(String(received[0]))?.[1]);
  } finally {
    socket.destroy();
  }
}

/** Posts a correctly signed body. */
function post(url: string, body: string): Promise<number> {
  const signature = `X-Service-Signature: ${sign(Buffer.from(body), secret)}`;
  return statusOf(url, [`Content-Length: ${body.length}`, signature], body);
}

/** The number of distinct valid deliveries. */
function distinct(): number {
  const make = new DrillRequests(secret, 0);
  const accepted = DRILL_CHECKS.filter(({ name, expects }) => expects === 'accepted' && name !== 'repeated');
  return accepted.flatMap(({ requests }) => requests(make)).length;
}

describe.skipIf(process.platform === 'win32')('the receiver on the page', () => {
  for (const [language, command, tools] of APPLICATIONS)
    it(`passes every check and handles unusual requests: ${language}`, {
      ...needs(...tools),
      timeout: 180_000,
    }, async () => {
      const url = await start(language, command);
      const { signal } = new AbortController();
      const results = [];
      const run = drill({ url, secret, clock: systemClock, signal });
      for await (const one of run) results.push(one);
      expect(results.filter(({ ok }) => !ok)).toEqual([]);
      expect(await readdir(join(folder, 'inbox'))).toHaveLength(distinct());

      for (const body of WITHOUT_ID) {
        expect([body, await post(url, body)]).toEqual([body, 200]);
        expect(await readdir(join(folder, 'inbox'))).toContain(`${hash('sha256', body)}.json`);
      }
      expect(await post(url, '{"id":')).toBe(400);
      expect([200, 400]).toContain(await post(url, DEEP));
      // PHP's server for development handles the length itself.
      if (language !== 'php') expect([400, 411]).toContain(await statusOf(url, ['Content-Length: -1'], 'x'));
      const chunked = await statusOf(url, ['Transfer-Encoding: chunked'], '1\r\nx\r\n0\r\n\r\n');
      expect(chunked).toBe(language === 'python' ? 411 : 401);
    });
});
