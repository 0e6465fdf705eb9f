import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { sign } from '../../src/webhooks/receive/signature.ts';
import { Home } from '../support/cli.ts';
import { startServer, type TestServer } from '../support/server.ts';

const home = new Home();
const secret = 'canary-inspected-0123456789';
const hostile = '<img src=x onerror=alert(1)>\u001b[31m';
let target: TestServer;
let inspector: URL;
let receiver: string;
const forwarded: string[] = [];

beforeAll(async () => {
  await writeFile(home.path('secret'), secret);
  target = await startServer((seen, response) => {
    forwarded.push(seen.body);
    response.end('ok');
  });
  const words = ['listen', '--port', '0', '--json', '--inspect', '--secret-file', 'secret'];
  const ready = await home.background`${words} --forward-to ${target.origin}/hooks`.object();
  inspector = new URL(String(ready.inspectorUrl));
  receiver = String(ready.url);
});

const bodyOf = (title: string) =>
  JSON.stringify({
    event: 'envelope.sent',
    timestamp: '2026-01-02T03:04:05Z',
    data: { envelopeId: 'env_1', title, note: `the secret is ${secret}` },
  });

const deliver = (body: string, signature = sign(Buffer.from(body), secret)) =>
  fetch(receiver, { method: 'POST', body, headers: { 'x-service-signature': signature } });

/** Sends a custom Host or Origin, which fetch doesn't allow. */
function call(
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {} } = options;
    request({ host: '127.0.0.1', port: inspector.port, path, method, headers }, (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

/** Reads the event stream up to the first rows. */
async function firstRows(): Promise<Record<string, unknown>[]> {
  const reply = await fetch(new URL('news', inspector), { headers: { accept: 'text/event-stream' } });
  let text = '';
  if (reply.body === null) throw new Error('no stream');
  for await (const chunk of reply.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const rows = /event: deliveries\ndata: (.*)\n/.exec(text)?.[1];
    if (rows === undefined) continue;
    const list = parseJson(rows);
    return isList(list) ? list.filter(isRecord) : [];
  }
  throw new Error(`the stream ended: ${text}`);
}

describe('the page of listen --inspect', () => {
  it('requires the complete link, its own host name, and its own origin', async () => {
    const { pathname, host } = inspector;
    expect(await call(pathname)).toBe(200);
    expect(await call('/')).toBe(403);
    expect(await call(`/${'x'.repeat(32)}/`)).toBe(403);
    expect(await call(pathname, { headers: { host: 'evil.example' } })).toBe(403);
    const replay = `${pathname}deliveries/none/replay`;
    expect(await call(replay, { method: 'POST' })).toBe(403);
    expect(await call(replay, { method: 'POST', headers: { origin: 'https://evil.example' } })).toBe(403);
    expect(await call(replay, { method: 'POST', headers: { origin: `http://${host}` } })).toBe(404);
    expect(await call(`${pathname}assets/../../package.json`)).not.toBe(200);
  });

  it('loads nothing external and renders no text as markup', async () => {
    const policy = (await fetch(inspector)).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe');
  });

  it('shows each delivery with its verdict, without secrets, and resends a valid one', async () => {
    expect((await deliver(bodyOf(hostile))).status).toBe(200);
    expect((await deliver(bodyOf('bad'), 'ab'.repeat(32))).status).toBe(401);
    const rows = await firstRows();
    expect(rows.map(({ state, reason }) => [state, reason === null])).toEqual([
      ['verified', true],
      ['refused', false],
    ]);
    const [good, bad] = rows.map(({ id }) => String(id));
    const detail = await (await fetch(new URL(`deliveries/${good}`, inspector))).text();
    expect(detail).not.toContain(secret);
    expect(parseJson(detail)).toMatchObject({ event: 'envelope.sent', answer: 200, noReplay: null });

    const origin = { origin: inspector.origin };
    const again = await fetch(new URL(`deliveries/${good}/replay`, inspector), {
      method: 'POST',
      headers: origin,
    });
    expect(await again.json()).toMatchObject([{ status: 200, attempt: 1 }]);
    expect(forwarded.filter((body) => body === bodyOf(hostile)).length).toBeGreaterThanOrEqual(2);
    const refused = await fetch(new URL(`deliveries/${bad}/replay`, inspector), {
      method: 'POST',
      headers: origin,
    });
    expect(refused.status).toBe(409);
    expect(forwarded).not.toContain(bodyOf('bad'));
  });
});
