import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, type LongRunning } from '../support/cli.ts';
import { portOf } from '../support/server.ts';
import { nested, payload, post, signed } from '../support/webhooks.ts';

/* The secrets that a listener accepts, and what it refuses. */
const SECRET = 'canary-secret-0123456789';
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
  await writeFile(home.path('secret'), SECRET);
});

/** Starts a listener and waits until it listens. */
async function listen(line = '', ...more: string[]): Promise<[LongRunning, string]> {
  const words = `listen --port 0 --json ${line}`.trim().split(' ');
  const listener = home.background([...words, ...more]);
  return [listener, String((await listener.object()).url)];
}

/** Creates an envelope with webhooks. */
function create(url: string, ...more: string[]): Promise<Record<string, unknown>> {
  const words = argv`envelopes create --template tmpl_nda --signer ${'Ada <ada@example.com>'}`;
  return home.object([...words, '--webhook-url', url, ...more]);
}

const fileOf = (of: Home) => of.path('config', 'webhook-secrets.json');
/** The secrets that were generated on this machine, oldest first. */
async function storedSecrets(of: Home): Promise<string[]> {
  return (await readFile(fileOf(of), 'utf8')).match(/whsec_[\w-]+/g) ?? [];
}

/** The latest delivery in the journal. */
async function latest(): Promise<Record<string, unknown>> {
  const [last] = [await home.json`events list -L 1`].flat();
  if (!isRecord(last)) throw new Error('the journal is empty');
  return last;
}

describe('the secret of an envelope', () => {
  it('is created with it, stored privately, never printed, and found by a running listener', async () => {
    const own = new Home();
    await own.sandbox();
    const listener = own.background`listen --port 0 --json`;
    const { url } = await listener.object();
    await listener.says(/No webhook secret is stored/);
    const refused = payload('env_early');
    expect(await post(url, refused, signed(refused, ''))).toBe(401);
    expect(await listener.object()).toMatchObject({ verified: false });
    const words = argv`envelopes create --template tmpl_nda --signer ${'Ada <ada@example.com>'} --send`;
    const made = await own.run([...words, '--webhook-url', String(url), '--debug']);
    expect(await listener.object()).toMatchObject({ event: 'envelope.sent', verified: true });
    await listener.stop();
    const [secret = ''] = await storedSecrets(own);
    expect(secret.length).toBeGreaterThan(40);
    expect((await stat(fileOf(own))).mode & 0o077).toBe(0);
    expect(made.stdout + made.stderr + (await listener.stderr)).not.toContain(secret);
  });

  it("verifies only this envelope's deliveries", async () => {
    const own = String((await create('http://127.0.0.1:9/')).id);
    await create('http://127.0.0.1:9/');
    const [ownSecret = '', others = ''] = (await storedSecrets(home)).slice(-2);
    const [listener, url] = await listen();
    await listener.says(/stored on this machine/);
    const answer = (data: object, secret: string) => {
      const body = JSON.stringify({ event: 'envelope.declined', data });
      return post(url, body, signed(body, secret));
    };
    // A payload may name its envelope elsewhere, or not at all.
    const shapes = [{ envelopeId: own }, { envelope: { id: own } }, { id: own }];
    for (const data of shapes)
      expect([await answer(data, ownSecret), await answer(data, others)]).toEqual([200, 401]);
    expect([await answer({}, ownSecret), await answer({}, others), await answer({}, 'unknown')]).toEqual([
      200, 200, 401,
    ]);
    expect(await answer({ envelopeId: 'env_unknown' }, ownSecret)).toBe(401);
    await listener.stop();
    expect(await listener.stderr).not.toContain(ownSecret);
  });

  it('verifies no delivery without an envelope if other secrets are given', async () => {
    const { id } = await create('http://127.0.0.1:9/');
    const [stored = ''] = (await storedSecrets(home)).slice(-1);
    const [listener, url] = await listen('--secret-file secret');
    const [none, one] = [JSON.stringify({ event: 'envelope.sent', data: {} }), payload(String(id))];
    const answers = [
      await post(url, none, signed(none, stored)),
      await post(url, none, signed(none, SECRET)),
      await post(url, one, signed(one, stored)),
    ];
    expect(answers).toEqual([401, 200, 200]);
    await listener.stop();
  });

  it('is found again after the file could not be read for a moment', async () => {
    const { id } = await create('http://127.0.0.1:9/');
    const [secret = ''] = (await storedSecrets(home)).slice(-1);
    const stored = await readFile(fileOf(home), 'utf8');
    const [listener, url] = await listen();
    const answerWith = async (text: string) => {
      await writeFile(fileOf(home), text);
      await utimes(fileOf(home), 1_700_000_000, 1_700_000_000);
      const body = payload(String(id));
      return post(url, body, signed(body, secret));
    };
    // Both have the same size and time.
    expect(await answerWith('x'.repeat(stored.length))).toBe(500);
    expect(await answerWith(stored)).toBe(200);
    await listener.stop();
  });
});

describe('a refused delivery', () => {
  it("doesn't fill the journal or the output", async () => {
    const [listener, url] = await listen('--secret-file secret');
    const long = 'x'.repeat(200_000);
    const data = { envelopeId: long, status: long, signer: { email: long } };
    const body = JSON.stringify({ id: long, event: long, data });
    expect(await post(url, body, { 'X-Long': 'y'.repeat(8_000) })).toBe(401);
    expect((await listener.line()).length).toBeLessThan(10_000);
    await listener.stop();
    const kept = await latest();
    expect(Buffer.from(String(kept.bodyBase64), 'base64').toString()).toBe(body.slice(0, 4_096));
    expect(kept).toMatchObject({ bytes: body.length, answer: 401 });
    expect(JSON.stringify(kept).length).toBeLessThan(20_000);
  });

  it('is recorded up to 1,000 times a day, and then only counted', async () => {
    const own = new Home();
    const listener = own.background(argv`listen --port 0 --json`, { env: { ESIGN_WEBHOOK_SECRET: SECRET } });
    const { url } = await listener.object();
    for (let sent = 0; sent < 1_200; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => post(url, payload('env_flood'))));
      expect(new Set(answers)).toEqual(new Set([401]));
    }
    const body = payload('env_good');
    expect(await post(url, body, signed(body, SECRET))).toBe(200);
    const stopped = listener.stop();
    let last: Record<string, unknown> = {};
    while (last.type !== 'summary') last = await listener.object();
    expect(last).toMatchObject({ received: 1_201, refused: 1_200, verified: 1 });
    await stopped;
    const kept = [await own.json`events list --all`].flat();
    expect(kept.filter((one) => isRecord(one) && one.reason === null)).toHaveLength(1);
    expect(kept.length).toBeLessThan(1_010);
  });

  it('can be a web page if signatures are not checked', async () => {
    const [listener, url] = await listen('--no-verify', '--exec', 'echo ran >> ran');
    await listener.object();
    for (const headers of [{ Origin: 'http://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])
      expect(await post(url, payload('env_web'), { ...headers, 'Content-Type': 'text/plain' })).toBe(403);
    const refused = { verified: false, reason: expect.stringContaining('a web page') as unknown };
    expect(await listener.object()).toMatchObject(refused);
    await listener.stop();
    await expect(stat(home.path('ran'))).rejects.toThrow('ENOENT');
  });
});

describe('a sender', () => {
  it("can't choose the delivery ID or the host that the application gets", async () => {
    const got: string[][] = [];
    const app = createServer((request, response) => {
      got.push(request.rawHeaders);
      response.end();
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${portOf(app)}`;
    const [listener, url] = await listen(`--secret-file secret --forward-to http://${host}/app`);
    const body = payload('env_slip');
    const more = { 'X-Esign-Delivery-Id': 'dlv_forged', Host: 'evil.example', 'X-Kept': 'yes' };
    expect(await post(url, body, { ...signed(body, SECRET), ...more })).toBe(200);
    let line = await listener.object();
    while (line.type !== 'forward') line = await listener.object();
    await listener.stop();
    app.close();
    const [headers = []] = got;
    const valuesOf = (name: string) =>
      headers.filter((_, index) => headers[index - 1]?.toLowerCase() === name);
    expect(valuesOf('x-esign-delivery-id')).toEqual([line.id]);
    expect(valuesOf('host')).toEqual([host]);
    expect(valuesOf('x-kept')).toEqual(['yes']);
  });

  it('sends Authorization and Cookie headers that are never shown', async () => {
    const [listener, url] = await listen('--secret-file secret');
    const body = payload('env_headers');
    const secrets = { Authorization: 'Bearer canary-auth', Cookie: 'a=canary-cookie' };
    await post(url, body, { ...signed(body, SECRET), ...secrets });
    await listener.stop();
    const id = String((await latest()).deliveryId);
    for (const { stdout } of [await home.run`events show ${id}`, await home.run`events show ${id} --json`]) {
      expect(stdout).toMatch(/authorization/i);
      expect(stdout).not.toContain('canary-');
    }
  });

  it.each([
    ['2,000 levels', nested(2_000)],
    ['500 levels around 800 KB', nested(500).replace('1}', `[${'1,'.repeat(400_000)}1]}`)],
  ])('can send JSON that is nested too deeply to be shown as JSON: %s', async (_, body) => {
    const [listener, url] = await listen('--secret-file secret', '--exec', 'cat > deep.json');
    const forged = { 'X-Service-Signature': 'f'.repeat(64) };
    expect([await post(url, body, forged), await post(url, body, signed(body, SECRET))]).toEqual([401, 200]);
    expect(await listener.object()).toMatchObject({ verified: false });
    const line = await listener.object();
    expect(line).toMatchObject({ event: 'envelope.sent', envelopeId: 'env_deep', reason: null });
    expect(Buffer.from(String(line.bodyBase64), 'base64').toString()).toBe(body);
    await listener.stop();
    expect((await home.run`events show ${String((await latest()).deliveryId)}`).code).toBe(0);
    expect((await stat(home.path('deep.json'))).size).toBeGreaterThan(body.length);
  });
});
