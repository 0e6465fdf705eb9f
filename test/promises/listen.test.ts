import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sign } from '../../src/webhooks/receive/signature.ts';
import { argv } from '../support/argv.ts';
import { Home, reportedError } from '../support/cli.ts';

const home = new Home();
const [old, next] = ['canary-old-secret-0123456789', 'canary-new-secret-0123456789'];

beforeAll(async () => {
  await home.sandbox();
  await Promise.all([writeFile(home.path('old'), `${old}\n`), writeFile(home.path('new'), next)]);
});
afterAll(() => home.close());

describe('listen', () => {
  it("receives the sandbox's webhooks, verified, in order, and prints a summary at the end", async () => {
    const listening = home.background`listen --port 0 --secret-file old --json`;
    const { url } = await listening.object();
    const create = [
      'envelopes',
      'create',
      '--template',
      'tmpl_nda',
      '--signer',
      'Ada <ada@example.com>',
      '--send',
    ];
    const envelope = await home.object`${create} --webhook-url ${String(url)} --webhook-secret-file old`;
    await home.run`sandbox sign ${String(envelope.id)}`;
    const events = [];
    for (let i = 0; i < 4; i++) events.push(await listening.object());
    expect(events.map((one) => one.event)).toEqual([
      'envelope.sent',
      'envelope.viewed',
      'envelope.signed',
      'envelope.completed',
    ]);
    for (const event of events) {
      expect(event).toMatchObject({
        type: 'delivery',
        verified: true,
        duplicate: false,
        reason: null,
        envelopeId: envelope.id,
      });
    }
    expect(events[2]).toMatchObject({
      body: { event: 'envelope.signed', data: { signer: { email: 'ada@example.com' } } },
    });
    const stopped = listening.stop('SIGTERM');
    expect(await listening.object()).toEqual({
      type: 'summary',
      received: 4,
      verified: 4,
      refused: 0,
      duplicates: 0,
    });
    expect(await stopped).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('receives at a path with spaces and letters outside ASCII', async () => {
    const listening = home.background(['listen', '--port', '0', '--no-verify', '--json', '--path', '/web é']);
    const { url } = await listening.object();
    expect(new URL(String(url)).pathname).toBe('/web%20%C3%A9');
    const { status } = await fetch(String(url), { method: 'POST', body: '{}' });
    expect([status, String(url).endsWith('/web%20%C3%A9')]).toEqual([200, true]);
    await listening.stop();
  });

  it('accepts several secrets, refuses unsigned deliveries, and shows no secret', async () => {
    const listening = home.background`listen --port 0 --secret-file old --secret-file new`;
    const body = '{"event":"envelope.sent","data":{"envelopeId":"env_\\u001b[31m1"}}';
    const [, url = ''] = await listening.says(/Listening at (\S+?)\.\s/);
    const post = (signature: string) =>
      fetch(url, { method: 'POST', body, headers: { 'X-Service-Signature': signature } });
    const answers = [];
    for (const signature of [
      sign(Buffer.from(body), old),
      `sha256=${sign(Buffer.from(body), next)}`,
      'nonsense',
    ]) {
      answers.push((await post(signature)).status);
    }
    expect(answers).toEqual([200, 200, 401]);
    const lines = [await listening.line(), await listening.line(), await listening.line()];
    expect(lines[0]).toContain('\tverified\t');
    expect(lines[2]).toMatch(/unverified\tthe signature is not lowercase hex$/);
    expect(lines.join('\n')).not.toContain('\u001b');
    await listening.stop();
    expect(lines.join('\n') + (await listening.stderr)).not.toContain('canary');
  });

  it('requires a secret or --no-verify', async () => {
    const none = await home.run`listen --port 0`;
    const short = await home.run`listen --port 0 --secret-file missing`;
    expect([none.code, short.code]).toEqual([2, 2]);
    expect(none.stderr).toContain('--no-verify');
    expect(short.stderr).toContain('the webhook secret');
  });

  it('shows only the requested events', async () => {
    const listening = home.background`listen --port 0 --no-verify --events completed --json`;
    const { url } = await listening.object();
    await listening.object();
    for (const event of ['envelope.sent', 'envelope.completed']) {
      await fetch(String(url), { method: 'POST', body: JSON.stringify({ event, data: {} }) });
    }
    expect(await listening.object()).toMatchObject({ event: 'envelope.completed', verified: false });
    await listening.stop();
  });
});

describe('a response of listen', () => {
  const body = JSON.stringify({
    event: 'envelope.sent',
    timestamp: '2026-01-02T03:04:05Z',
    data: { envelopeId: 'env_1' },
  });

  it('has status 200, 401, 400, 405, 404, or 413, and each delivery is a JSON line with its reason', async () => {
    const listening = home.background(argv`listen --port 0 --json`, { env: { ESIGN_WEBHOOK_SECRET: old } });
    const ready = await listening.object();
    expect(ready).toMatchObject({
      type: 'ready',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/webhooks$/) as unknown,
    });
    const url = String(ready.url);
    const post = async (content: string, signature?: string) => {
      const headers = signature === undefined ? {} : { 'X-Service-Signature': signature };
      return (await fetch(url, { method: 'POST', body: content, headers })).status;
    };
    const good = (content: string) => post(content, sign(Buffer.from(content), old));
    const other = JSON.stringify({
      id: 'evt_1',
      type: 'envelope.signed',
      createdAt: '2026-01-02T03:04:05Z',
      data: { envelopeId: 'env_2', status: 'IN_PROGRESS' },
    });
    const forged = body.replace('env_1', 'env_9');
    expect([
      await good(body),
      await good(body),
      await good(other),
      await post(body),
      await post(forged, sign(Buffer.from(body), old)),
      await post(body, sign(Buffer.from(body), next)),
      await good('no json \u001b[31m'),
    ]).toEqual([200, 200, 200, 401, 401, 401, 400]);
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(`${url}/else`, { method: 'POST', body })).status).toBe(404);
    const large = `"${'x'.repeat(1_100_000)}"`;
    // The response can arrive while the body is still being sent, and end the connection.
    expect(await good(large).catch(() => 413)).toBe(413);
    const lines = [];
    for (let i = 0; i < 7; i++) lines.push(await listening.object());
    expect(lines).toMatchObject([
      {
        type: 'delivery',
        event: 'envelope.sent',
        envelopeId: 'env_1',
        verified: true,
        duplicate: false,
        reason: null,
        body: JSON.parse(body) as unknown,
      },
      { verified: true, duplicate: true },
      { id: 'evt_1', event: 'envelope.signed', envelopeId: 'env_2', status: 'IN_PROGRESS', verified: true },
      { verified: false, reason: expect.stringContaining('missing') as unknown },
      { verified: false, reason: expect.stringContaining('does not match') as unknown },
      { verified: false, reason: expect.stringContaining('does not match') as unknown },
      {
        verified: true,
        reason: expect.stringContaining('JSON') as unknown,
        bodyBase64: Buffer.from('no json \u001b[31m').toString('base64'),
      },
    ]);
    expect(lines.every((line) => Number.isFinite(Date.parse(String(line.receivedAt))))).toBe(true);
    const stopped = listening.stop('SIGTERM');
    expect(await listening.object()).toMatchObject({
      type: 'summary',
      received: 7,
      refused: 4,
      duplicates: 1,
    });
    expect(await stopped).toEqual({ code: null, signal: 'SIGTERM' });
    expect(JSON.stringify([ready, lines]) + (await listening.stderr)).not.toContain('canary');
  });

  it('is impossible if the port is in use or an option is invalid', async () => {
    const listening = home.background`listen --port 0 --no-verify --json`;
    const { port } = new URL(String((await listening.object()).url));
    const failed = async (...words: string[]) => {
      const run = await home.run`listen --no-verify --json ${words}`;
      expect([run.code, reportedError(run).code]).toEqual([2, 'USAGE']);
      return run.stderr;
    };
    expect(await failed('--port', port)).toContain('already in use');
    expect(await failed('--port', '0', '--events', 'envelope.signd')).toContain('envelope.signed');
    await failed('--port', '70000');
    expect(await listening.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  });

  it('accepts both payload shapes and both signature formats of the service, and reports contradictions', async () => {
    const listening = home.background`listen --port 0 --secret-file new --secret-file old --json`;
    const { url } = await listening.object();
    onTestFinished(async () => {
      await home.choose({ payload: 'event', signature: 'bare' });
    });
    await home.choose({ payload: 'type', signature: 'prefixed' });
    const send = (secret: string) =>
      home.run([
        ...['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <ada@example.com>', '--send'],
        ...['--webhook-url', String(url), '--webhook-secret-file', secret],
      ]);
    await writeFile(home.path('foreign'), 'canary-foreign-secret-0123');
    const outputs = [await send('new'), await send('foreign')];
    expect([await listening.object(), await listening.object()]).toMatchObject([
      { event: 'envelope.sent', verified: true, body: { type: 'envelope.sent' } },
      {
        event: 'envelope.sent',
        verified: false,
        reason: expect.stringContaining('a different secret') as unknown,
      },
    ]);
    await listening.stop();
    expect(JSON.stringify(outputs) + (await listening.stderr)).not.toContain('canary');
  });
});

describe('listen --download', () => {
  it('downloads what an earlier listener could not, once', async () => {
    const own = new Home();
    onTestFinished(() => own.close());
    await own.sandbox();
    await writeFile(own.path('secret'), 'canary-secret-of-a-listener-1');
    const listenTo = () => own.background`listen --port 0 --json --download docs --secret-file secret`;
    const typesUntil = async (listener: ReturnType<typeof listenTo>, last: string) => {
      const types: unknown[] = [];
      while (types.at(-1) !== last) types.push((await listener.object()).type);
      return types;
    };
    await writeFile(own.path('docs'), 'in the way');
    const first = listenTo();
    const { url } = await first.object();
    const words = argv`--template tmpl_nda --signer ${'Ada <ada@example.com>'} --webhook-url ${String(url)} --webhook-secret-file secret`;
    const { id } = await own.object(['envelopes', 'create', ...words, '--send']);
    await own.run`sandbox sign ${String(id)}`;
    await typesUntil(first, 'warning');
    await first.stop();
    await rm(own.path('docs'));
    const second = listenTo();
    expect(await typesUntil(second, 'file')).toEqual(['ready', 'file']);
    expect(await second.object()).toMatchObject({ type: 'file', envelopeId: id, status: 'downloaded' });
    await second.stop();
    const third = listenTo();
    await third.object();
    await third.stop();
    expect(await typesUntil(third, 'summary')).toEqual(['summary']);
  });
});
