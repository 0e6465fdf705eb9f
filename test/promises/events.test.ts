import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { EVENTS } from '../../src/kernel/vocabulary.ts';
import { sign } from '../../src/webhooks/receive/signature.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { portOf } from '../support/server.ts';

const SECRET = 'canarysecret-0123456789';
const home = new Home();
const env = { ESIGN_WEBHOOK_SECRET: SECRET };

/** An application that receives forwarded webhooks and keeps them byte for byte. */
interface Got {
  headers: IncomingMessage['rawHeaders'];
  body: Buffer;
}
const got: Got[] = [];
let answers: number[] = [];
const app = createServer((request, response) => {
  void buffer(request).then((body) => {
    got.push({ headers: request.rawHeaders, body });
    response.writeHead(answers.shift() ?? 200).end();
  });
});
let appUrl: string;

beforeAll(async () => {
  await home.sandbox();
  await new Promise<void>((resolve) => {
    app.listen(0, '127.0.0.1', resolve);
  });
  appUrl = `http://127.0.0.1:${portOf(app)}/app?x=1`;
  await writeFile(home.path('secret'), SECRET);
});
afterAll(async () => {
  app.close();
  await home.close();
});

const post = (url: string, body: string | Buffer, signature: string, more: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: new Uint8Array(Buffer.from(body)),
    headers: { 'X-Service-Signature': signature, ...more },
  });
const signed = (url: string, body: string) => post(url, body, sign(Buffer.from(body), SECRET));
const event = (n: number, name = 'envelope.sent') =>
  JSON.stringify({ event: name, timestamp: '2026-01-02T03:04:05Z', data: { envelopeId: `env_${n}` } });

describe('the journal of webhooks', () => {
  it('contains acknowledged deliveries, which can be listed, filtered, shown, and resent byte for byte', async () => {
    const own = new Home();
    onTestFinished(() => own.close());
    const listening = own.background(argv`listen --port 0 --json`, { env });
    const { url } = await listening.object();
    expect((await signed(String(url), event(1))).status).toBe(200);
    expect((await signed(String(url), event(2, 'envelope.completed'))).status).toBe(200);
    expect((await post(String(url), event(3), 'bad')).status).toBe(401);
    await listening.stop();
    const all = await own.json`events list`;
    expect(all).toMatchObject([
      { envelopeId: 'env_3', verified: false, answer: 401 },
      { envelopeId: 'env_2', event: 'envelope.completed', verified: true },
      { envelopeId: 'env_1', verified: true, body: { event: 'envelope.sent' } },
    ]);
    expect(await own.json`events list --verified --events completed`).toHaveLength(1);
    expect(await own.json`events list --envelope env_1`).toHaveLength(1);
    const id = isList(all) && isRecord(all[2]) ? String(all[2].deliveryId) : '';
    expect((await own.run`events show ${id.slice(0, 12)}`).stdout).toContain('envelope.sent');
    got.length = 0;
    const replayed = await own.run`events replay ${id} --to ${appUrl} --json`;
    expect([replayed.code, got[0]?.body.toString()]).toEqual([0, event(1)]);
    expect(got[0]?.headers.join()).toContain(`X-Esign-Delivery-Id,${id}`);
    expect((await own.run`events replay --since 1h --to ${appUrl}`).code).toBe(0);
    expect(got.slice(1).map(({ body }) => body.toString())).toEqual([
      event(1),
      event(2, 'envelope.completed'),
    ]);
    expect((await own.run`events show dlv_none`).code).toBe(2);
    got.length = 0;
    expect(await own.run`events replay --envelope env_none --to ${appUrl}`).toMatchObject({
      code: 0,
      stdout: '',
    });
    const unclear = [argv`dlv_`, argv`${id} --since 1h`, argv`${id} --envelope env_1`, argv`- --since 1h`];
    for (const args of unclear)
      expect(reportedError(await own.run`events replay ${args} --to ${appUrl} --json`).exitCode).toBe(2);
    expect(await own.run(argv`events replay - --to ${appUrl}`, { input: '' })).toMatchObject({
      code: 0,
      stdout: '',
    });
    const dryRun = await own.run`events replay --since 1h --to ${appUrl} --dry-run --json`;
    expect(jsonLines(dryRun.stdout)).toMatchObject([{ dryRun: true, action: 'send', id }, { dryRun: true }]);
    const shown = await own.run`events trigger completed --envelope env_9 --to ${appUrl} --dry-run`;
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('env_9')]);
    expect(got).toEqual([]);
  });

  it('recognizes a duplicate after a restart, and is private', async () => {
    for (const duplicate of [false, true]) {
      const listening = home.background(argv`listen --port 0 --json`, { env });
      const { url } = await listening.object();
      expect((await signed(String(url), event(50))).status).toBe(200);
      expect(await listening.object()).toMatchObject({ duplicate });
      await listening.stop();
    }
    const folder = home.path('state', 'events');
    for (const day of await readdir(folder))
      for (const name of await readdir(`${folder}/${day}`)) {
        expect((await stat(`${folder}/${day}/${name}`)).mode & 0o077).toBe(0);
        expect(await readFile(`${folder}/${day}/${name}`, 'utf8')).not.toContain(SECRET);
      }
  });
});

describe('events replay to an application that refuses the delivery', () => {
  const replay = (...args: string[]) => home.run`events replay ${args}`;
  let id: string;
  beforeAll(async () => {
    const listening = home.background(argv`listen --port 0 --json`, { env });
    const { url } = await listening.object();
    for (const n of [60, 61, 62]) expect((await signed(String(url), event(n))).status).toBe(200);
    await listening.stop();
    const kept = await home.json`events list --envelope env_60`;
    id = isList(kept) && isRecord(kept[0]) ? String(kept[0].deliveryId) : '';
  });

  it('shows its response, and fails', async () => {
    answers = [503];
    const refused = await replay(id, '--to', appUrl, '--json');
    expect(refused.code).toBe(8);
    expect(jsonLines(refused.stdout)).toMatchObject([
      { type: 'forward', id, status: 503, attempt: 1, error: 'responded with 503' },
    ]);
    expect(refused.stderr).toMatch(/\/app .*: responded with 503/);
  });

  it('sends the others when one is refused, and exits with 10', async () => {
    answers = [200, 500];
    const partly = await replay('--since', '1h', '--to', appUrl, '--json');
    const results = jsonLines(partly.stdout).map((line) => (isRecord(line) ? line.error : line));
    expect(results.slice(0, 2)).toEqual([null, 'responded with 500']);
    expect(results.slice(2)).toEqual(results.slice(2).map(() => null));
    expect(results.length).toBeGreaterThan(2);
    expect(partly.code).toBe(10);
    expect(partly.stderr).toContain(`1 of ${results.length} were not accepted`);
  });

  it('reports that nothing is listening', async () => {
    const gone = await replay(id, '--to', 'http://127.0.0.1:9/hooks', '--json');
    expect([gone.code, jsonLines(gone.stdout)]).toMatchObject([8, [{ status: null, error: 'ECONNREFUSED' }]]);
  });

  it('accepts a host and a port for http, and reports a missing address as usual', async () => {
    const short = await replay(id, '--to', appUrl.replace('http://', ''), '--json');
    expect([short.code, jsonLines(short.stdout)]).toMatchObject([
      0,
      [{ event: 'envelope.sent', envelopeId: 'env_60', nextMs: null, waiting: 0 }],
    ]);
    const none = await replay(id);
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringMatching(/^Error: Missing flag --to: .*\n.*`esign events replay --help`\.\n$/),
    ]);
  });

  it.each(['ftp://127.0.0.1/hooks', 'mailto:a@b.c', 'hooks'])('refuses %s', async (to) => {
    const { code, stderr, stdout } = await replay(id, '--to', to);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`Invalid value for --to: "${to}".`);
  });
});

describe('listen --keep', () => {
  it('deletes older days, and reports it', async () => {
    const old = home.path('state', 'events', '2020-01-01');
    await mkdir(old, { recursive: true });
    const all = home.background(argv`listen --port 0 --json`, { env });
    await all.object();
    await all.stop();
    expect(await readdir(old)).toEqual([]);
    const listening = home.background(argv`listen --port 0 --json --keep 30d`, { env });
    expect(await listening.object()).toMatchObject({ type: 'ready' });
    expect(await listening.object()).toEqual({ type: 'removed', days: 1 });
    await listening.stop();
    expect(await readdir(home.path('state', 'events'))).not.toContain('2020-01-01');
    expect((await home.run(argv`listen --port 0 --keep 1h`, { env })).code).toBe(2);
  });
});

describe('forwarding', () => {
  it('sends identical bytes and headers, retries, and never delays the response', async () => {
    got.length = 0;
    answers = [500];
    const second = home.background(argv`listen --port 0 --json --forward-to ${appUrl}`, { env });
    const ready = await second.object();
    const odd = Buffer.concat([
      Buffer.from('{"event":"envelope.sent", "data" : {"x":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}}'),
    ]);
    // Not UTF-8, so not JSON: refused and not forwarded.
    expect((await post(String(ready.url), odd, sign(odd, SECRET))).status).toBe(400);
    const spaced = '{ "event" : "envelope.sent",\n "data":{"envelopeId":"env_é"} }\n';
    expect(
      (await post(String(ready.url), spaced, sign(Buffer.from(spaced), SECRET), { 'X-Custom': 'a,b' }))
        .status,
    ).toBe(200);
    const lines = [];
    while (lines.filter((line) => line.type === 'forward').length < 2) lines.push(await second.object());
    const id = lines.find((line) => line.type === 'delivery' && line.reason === null)?.deliveryId;
    expect(lines.filter((line) => line.type === 'forward')).toMatchObject([
      { id, attempt: 1, status: 500, error: 'responded with 500' },
      { id, attempt: 2, status: 200, error: null },
    ]);
    expect(got.map(({ body }) => body.toString())).toEqual([spaced, spaced]);
    expect(got[0]?.headers.join()).toContain('X-Custom,a,b');
    await second.stop();
  });

  it('runs a command once for each delivery, with the delivery on stdin', async () => {
    const listening = home.start(
      argv`listen --port 0 --json --exec 'cat >> seen.jsonl; echo "$ESIGN_EVENT" >> names'`,
      { env },
    );
    const { url } = await listening.object();
    for (const body of [event(70), event(70), event(71)]) await signed(String(url), body);
    await listening.stop();
    expect(jsonLines(await readFile(home.path('seen.jsonl'), 'utf8'))).toMatchObject([
      { envelopeId: 'env_70' },
      { envelopeId: 'env_71' },
    ]);
    expect(await readFile(home.path('names'), 'utf8')).toBe('envelope.sent\nenvelope.sent\n');
  });
});

describe('a secret per envelope', () => {
  it('is created by create, stored privately, never printed, and found by listen', async () => {
    const own = new Home();
    await own.sandbox();
    const listening = own.background`listen --port 0 --no-verify --json`;
    const { url } = await listening.object();
    await listening.stop();
    const create = [
      'envelopes',
      'create',
      '--template',
      'tmpl_nda',
      '--signer',
      'Ada <ada@example.com>',
      '--webhook-url',
      String(url),
    ];
    const made = await own.run`${create} --json --debug`;
    expect(made.code).toBe(0);
    const kept = await readFile(own.path('config', 'webhook-secrets.json'), 'utf8');
    const secret = /whsec_[\w-]+/.exec(kept)?.[0] ?? '';
    expect((await stat(own.path('config', 'webhook-secrets.json'))).mode & 0o077).toBe(0);
    expect(secret.length).toBeGreaterThan(40);
    expect(made.stdout + made.stderr).not.toContain(secret);
    const id = String((await own.object([...create.slice(0, 6)])).id);
    const envelope = /"id": "(env_\w+)"/.exec(made.stdout)?.[1] ?? '';
    const port = new URL(String(url)).port;
    const waiting = own.background`listen --port ${port} --json --envelope ${envelope} --timeout 60s --download downloads`;
    await waiting.object();
    await own.run`envelopes send ${envelope}`;
    await own.run`sandbox sign ${envelope}`;
    const types: unknown[] = [];
    while (types.at(-1) !== 'summary') types.push((await waiting.object()).type);
    expect(types.filter((type) => type !== 'delivery')).toEqual(['file', 'file', 'summary']);
    expect(await waiting.ended).toEqual({ code: 0, signal: null });
    expect((await readdir(own.path('downloads'))).sort()).toEqual([
      'SHA256SUMS',
      `${envelope}.certificate.pdf`,
      `${envelope}.signed.pdf`,
    ]);
    expect(await own.json`events list --verified -L 9`).toHaveLength(4);
    expect((await own.run`listen --port 0 --envelope ${id} --timeout 1s --json`).code).toBe(124);
    await own.close();
  });
});

describe('events trigger and verify', () => {
  it.each(EVENTS)("signs %s like the service's events, and verify accepts it", async (name) => {
    got.length = 0;
    const { code } =
      await home.run`events trigger ${name} --to ${appUrl} --secret-file secret --envelope env_7`;
    expect(code).toBe(0);
    const { body, headers } = got[0] ?? { body: Buffer.alloc(0), headers: [] };
    const signature = headers[headers.indexOf('X-Service-Signature') + 1] ?? '';
    expect(signature).toBe(sign(body, SECRET));
    expect(JSON.parse(body.toString())).toMatchObject({ event: name, data: { envelopeId: 'env_7' } });
  });

  it('shows the reason for an invalid signature', async () => {
    const body = '{"b":1,"a":{"c":[1,2]}}';
    await writeFile(home.path('body.json'), body);
    const verify = (signature: string) =>
      home.run`events verify body.json --signature ${signature} --secret-file secret --json`;
    expect((await verify(sign(Buffer.from(body), SECRET))).code).toBe(0);
    expect((await verify(`sha256=${sign(Buffer.from(body), SECRET)}`)).code).toBe(0);
    const pretty = await verify(sign(Buffer.from(JSON.stringify(JSON.parse(body), null, 2)), SECRET));
    expect([pretty.code, String(reportedError(pretty).message)]).toEqual([
      9,
      expect.stringContaining('serialized again') as unknown,
    ]);
    const upper = await verify(sign(Buffer.from(body), SECRET).toUpperCase());
    expect(String(reportedError(upper).message)).toContain('uppercase');
    const newline = await verify(sign(Buffer.from(body), `${SECRET}\n`));
    expect(String(reportedError(newline).message)).toContain('line break');
    const none = await home.run`events verify body.json --signature x --json`;
    expect([none.code, reportedError(none).code]).toEqual([2, 'USAGE']);
  });

  it('prints a strong secret with events secret', async () => {
    const [one, two] = [await home.object`events secret`, await home.object`events secret`];
    expect(String(one.secret)).toMatch(/^whsec_[\w-]{43}$/);
    expect(one.secret).not.toBe(two.secret);
  });
});
