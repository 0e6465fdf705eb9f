import { readdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, type LongRunning, reportedError } from '../support/cli.ts';
import { payload, post, signed } from '../support/webhooks.ts';

const home = new Home();
const [old, next] = ['canary-old-secret-0123456789', 'canary-new-secret-0123456789'];
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

beforeAll(async () => {
  await home.sandbox();
  await Promise.all([writeFile(home.path('old'), `${old}\n`), writeFile(home.path('new'), next)]);
});

/** Starts a listener and waits until it listens. */
async function listen(line: string, ...more: string[]): Promise<[LongRunning, string]> {
  const listener = home.background([...`listen --port 0 --json ${line}`.split(' '), ...more]);
  return [listener, String((await listener.object()).url)];
}

/** Reads its next lines. */
async function objects(listener: LongRunning, count: number): Promise<Record<string, unknown>[]> {
  const lines = [];
  while (lines.length < count) lines.push(await listener.object());
  return lines;
}

/** Creates an envelope with webhooks; returns its ID. */
async function send(url: string, ...more: string[]): Promise<string> {
  const words = argv`envelopes create --template tmpl_nda --signer ${'Ada <ada@example.com>'} --send`;
  return String((await home.object([...words, '--webhook-url', url, ...more])).id);
}

describe('listen', () => {
  it("receives the service's webhooks, verified, in order, and prints a summary at the end", async () => {
    const [listener, url] = await listen('--secret-file old');
    const id = await send(url, '--webhook-secret-file', 'old');
    await home.run`sandbox sign ${id}`;
    const events = await objects(listener, 4);
    expect(events.map(({ event }) => event)).toEqual([
      'envelope.sent',
      'envelope.viewed',
      'envelope.signed',
      'envelope.completed',
    ]);
    const verified = { type: 'delivery', verified: true, duplicate: false, reason: null, envelopeId: id };
    for (const event of events) expect(event).toMatchObject(verified);
    expect(events[2]).toMatchObject({ body: { data: { signer: { email: 'ada@example.com' } } } });
    const stopped = listener.stop('SIGTERM');
    const summary = { type: 'summary', received: 4, verified: 4, refused: 0, duplicates: 0 };
    expect(await listener.object()).toEqual(summary);
    expect(await stopped).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('responds with 200, 401, 400, 405, 404, or 413, and prints each delivery with the reason', async () => {
    const [listener, url] = await listen('--secret-file old --secret-file new');
    const body = payload('env_1');
    const other =
      '{"id":"evt_1","type":"envelope.signed","createdAt":"2026-01-02T03:04:05Z","data":{"envelopeId":"env_2"}}';
    const notJson = 'no json \u001b[31m';
    const invalid = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const headerOf = (text: string, secret: string) => signed(text, secret)['X-Service-Signature'] ?? '';
    const answers = [
      // A forged copy doesn't make the real delivery a duplicate.
      await post(url, body, { 'X-Service-Signature': 'f'.repeat(64) }),
      await post(url, body, signed(body, old)),
      await post(url, body, signed(body, next)),
      await post(url, other, { 'X-Service-Signature': `sha256=${headerOf(other, old)}` }),
      await post(url, body),
      await post(url, body.replace('env_1', 'env_9'), signed(body, old)),
      await post(url, ` ${body}`, signed(body, old)),
      await post(url, notJson, signed(notJson, old)),
      await post(url, invalid, signed(invalid, old)),
    ];
    expect(answers).toEqual([401, 200, 200, 200, 401, 401, 401, 400, 400]);
    const large = `"${'x'.repeat(1_100_000)}"`;
    // The response can arrive while the body is still being sent, and end the connection.
    expect(await post(url, large, signed(large, old)).catch(() => 413)).toBe(413);
    expect([(await fetch(url)).status, await post(`${url}/else`, body, signed(body, old))]).toEqual([
      405, 404,
    ]);
    const lines = await objects(listener, answers.length);
    expect(lines).toMatchObject([
      { verified: false, reason: matching(/does not match/) },
      { event: 'envelope.sent', envelopeId: 'env_1', verified: true, duplicate: false, reason: null },
      { verified: true, duplicate: true, body: { event: 'envelope.sent' } },
      { id: 'evt_1', event: 'envelope.signed', envelopeId: 'env_2', verified: true, duplicate: false },
      { verified: false, reason: matching(/missing/) },
      { verified: false, reason: matching(/does not match/) },
      { verified: false, reason: matching(/serialized again/) },
      { verified: true, reason: matching(/JSON/), bodyBase64: Buffer.from(notJson).toString('base64') },
      { verified: true, reason: matching(/JSON/), bodyBase64: invalid.toString('base64') },
    ]);
    expect(lines.every(({ receivedAt }) => Number.isFinite(Date.parse(String(receivedAt))))).toBe(true);
    const stopped = listener.stop();
    expect(await objects(listener, 4)).toMatchObject([
      { type: 'warning', message: '1 request was refused with 413, because the body is larger than 1 MiB.' },
      { type: 'warning', message: '1 request was refused with 405, because the method is not POST.' },
      { type: 'warning', message: matching(/\/webhooks\/else/) },
      { type: 'summary', received: 12, verified: 5, refused: 9, duplicates: 1 },
    ]);
    await stopped;
    expect(JSON.stringify(lines) + (await listener.stderr)).not.toContain('canary');
  });

  it('recognizes a duplicate after a restart', async () => {
    const body = payload('env_50');
    for (const duplicate of [false, true]) {
      const [listener, url] = await listen('--secret-file old');
      expect(await post(url, body, signed(body, old))).toBe(200);
      expect(await listener.object()).toMatchObject({ duplicate });
      await listener.stop();
    }
  });

  it('prints a line for each delivery in a pipe, without control characters', async () => {
    const listener = home.background`listen --port 0 --secret-file old`;
    const [, url = ''] = await listener.says(/Listening at (\S+?)\.\s/);
    const body = payload('env_\u001b[31m1');
    expect([await post(url, body, signed(body, old)), await post(url, body)]).toEqual([200, 401]);
    const lines = [await listener.line(), await listener.line()];
    expect(lines[0]).toContain('\tverified\t');
    expect(lines[1]).toMatch(/unverified\tthe signature header is missing$/);
    expect(lines.join('\n')).not.toContain('\u001b');
    await listener.stop();
  });

  it('prints only the requested events, and stores all of them', async () => {
    const [listener, url] = await listen('--no-verify --events completed');
    await listener.object();
    for (const event of ['envelope.sent', 'envelope.completed']) await post(url, payload('env_e', event));
    expect(await listener.object()).toMatchObject({ event: 'envelope.completed', verified: false });
    await listener.stop();
    const [first, second] = [await home.json`events list -L 2`].flat();
    expect([first, second]).toMatchObject([{ event: 'envelope.completed' }, { event: 'envelope.sent' }]);
  });

  it('receives at a path with spaces and letters outside ASCII', async () => {
    const [listener, url] = await listen('--no-verify --path', '/web é');
    expect([new URL(url).pathname, await post(url, '{}')]).toEqual(['/web%20%C3%A9', 200]);
    await listener.stop();
  });

  it('ignores a trailing slash, and reports what arrives elsewhere once, and at the end', async () => {
    const [listener, url] = await listen('--no-verify');
    await listener.object();
    for (const path of ['/hooks\u001b[31m', '/', '/hooks'])
      expect(await post(new URL(path, url), '{}')).toBe(404);
    expect(await listener.object()).toMatchObject({
      type: 'warning',
      message: matching(/\/hooks.*\/webhooks/),
    });
    expect(await post(`${url}/?a=b`, payload('env_slash'))).toBe(200);
    expect(await listener.object()).toMatchObject({ type: 'delivery', envelopeId: 'env_slash' });
    await listener.stop();
    const shown = await listener.stderr;
    expect(shown).toContain('2 requests, such as to /hooks, were refused with 404.');
    expect(shown).not.toContain('\u001b');
  });

  it('reports once that a sender uses TLS on its port, and at the end how many', async () => {
    const [listener, url] = await listen('--no-verify');
    await listener.object();
    const tls = url.replace('http:', 'https:');
    for (let n = 0; n < 3; n++) await expect(post(tls, '{}')).rejects.toThrow();
    const message = matching(/^1 connection was closed because the sender used TLS.*http:\/\//);
    expect(await listener.object()).toMatchObject({ type: 'warning', message });
    await listener.stop();
    expect(await listener.stderr).toContain('2 connections were closed because the sender used TLS.');
  });

  it('exits with 2 if the port is in use or an option is invalid', async () => {
    const [listener, url] = await listen('--no-verify');
    const failed = async (...words: string[]) => {
      const run = await home.run`listen --no-verify --json ${words}`;
      expect([run.code, reportedError(run).code]).toEqual([2, 'USAGE']);
      return run.stderr;
    };
    const { port } = new URL(url);
    expect(await failed('--port', port)).toContain('already in use');
    expect(await failed('--port', '0', '--events', 'envelope.signd')).toContain('envelope.signed');
    await failed('--port', '70000');
    await failed('--port', '0', '--path', 'webhooks');
    await failed('--port', port, '--health-port', port);
    const { origin } = new URL(url);
    for (const [path, to] of [
      ['/webhooks', '/webhooks'],
      ['/webhooks/', '/webhooks'],
      ['/webhooks/', '/webhooks/?a=b'],
      ['/', '/'],
      ['/', ''],
    ] as const)
      expect(await failed('--port', port, '--path', path, '--forward-to', `${origin}${to}`)).toContain(
        'own address',
      );
    expect((await home.run`listen --port 0 --secret-file missing`).code).toBe(2);
    // Anyone can sign with an empty secret.
    await writeFile(home.path('empty'), '\n');
    const empty = await home.run`listen --port 0 --json --secret-file ${home.path('empty')}`;
    expect([empty.code, reportedError(empty).message]).toEqual([2, matching(/empty/)]);
    expect(await listener.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  });
});

describe('listen --exec', () => {
  it('runs a command once for each accepted delivery, with the delivery on stdin and none of our secrets', async () => {
    const env = { ESIGN_API_KEY: 'canary-key', AWS_SECRET_ACCESS_KEY: 'canary-aws', KEPT: 'kept' };
    const command = 'cat >> seen.jsonl; echo "$ESIGN_EVENT" | wc -c >> lengths; env > env';
    const words = argv`listen --port 0 --json --secret-file old --exec ${command}`;
    const listener = home.background(words, { env });
    const { url } = await listener.object();
    // A NUL can't be part of a variable, and a long one would be too large for the system.
    const events = ['envelope.sent', 'a\u0000b', 'x'.repeat(300_000)];
    const bodies = events.map((event) => payload('env_70', event));
    for (const body of [...bodies, ...bodies]) expect(await post(url, body, signed(body, old))).toBe(200);
    expect(await post(url, payload('env_forged'), signed(payload('env_forged'), 'other'))).toBe(401);
    await listener.stop();
    const seen = jsonLines(await readFile(home.path('seen.jsonl'), 'utf8'));
    expect(seen).toMatchObject(events.map((event) => ({ event, envelopeId: 'env_70' })));
    const lengths = (await readFile(home.path('lengths'), 'utf8')).trim().split(/\s+/);
    expect(lengths).toEqual(['14', '3', '4097']);
    const given = await readFile(home.path('env'), 'utf8');
    expect(given).toContain('KEPT=kept');
    expect(given).toContain('ESIGN_ENVELOPE_ID=env_70');
    expect(given).not.toContain('canary');
  });
});

describe('listen --download', () => {
  it('downloads the documents of a completed envelope, and names the command if that fails', async () => {
    await writeFile(home.path('docs'), 'a file in place of the folder');
    const [listener, url] = await listen('--secret-file old --download downloads');
    const id = await send(url, '--webhook-secret-file', 'old');
    await home.run`sandbox sign ${id}`;
    const lines = await objects(listener, 6);
    expect(lines.filter(({ type }) => type === 'file')).toMatchObject([
      { envelopeId: id, status: 'downloaded' },
      { envelopeId: id, status: 'downloaded' },
    ]);
    expect(await readdir(home.path('downloads'))).toContain(`${id}.signed.pdf`);
    await listener.stop();
    const [failing, at] = await listen('--secret-file old --download docs');
    const body = payload(id, 'envelope.completed', { again: true });
    expect(await post(at, body, signed(body, old))).toBe(200);
    const stopped = failing.stop();
    const rest = [];
    for (let type: unknown; type !== 'summary'; ) {
      const line = await failing.object();
      type = line.type;
      rest.push(String(line.message));
    }
    expect(rest.join('\n')).toContain(`esign envelopes download ${id} --dir docs`);
    await stopped;
  });
});
