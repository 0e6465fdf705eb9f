import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, type LongRunning } from '../support/cli.ts';
import { portOf } from '../support/server.ts';
import { nested, payload, post, signed } from '../support/webhooks.ts';

/* What strangers send to a listener, and what they must not achieve. */
const SECRET = 'canary-secret-0123456789';
const FORGED = { 'X-Service-Signature': 'f'.repeat(64) };
const home = new Home({ ESIGN_WEBHOOK_SECRET: SECRET });
afterAll(() => home.close());

const words = (line: string) => line.split(' ');
/** A listener that has reported that it is ready, with its address. */
async function listen(line = '', ...more: string[]): Promise<[LongRunning, string]> {
  const started = home.start([...words(`listen --port 0 --json ${line}`.trim()), ...more]);
  return [started, String((await started.object()).url)];
}
/** The latest delivery in the journal. */
async function latest(): Promise<Record<string, unknown>> {
  const [last] = [await home.json(words('events list -L 1'))].flat();
  if (!isRecord(last)) throw new Error('the journal is empty');
  return last;
}

describe('a small body with an expensive representation', () => {
  const leaf = `[${'1,'.repeat(400_000)}1]`;
  it.each([
    ['2,000 levels', nested(2_000)],
    ['500 levels around 800 KB', nested(500).replace('1}', `${leaf}}`)],
    ['20,000 levels', nested(20_000)],
  ])(
    'is answered, shown, executed, and stored if it is signed, and refused otherwise: %s',
    async (_, body) => {
      const [listener, url] = await listen('--exec', 'wc -c >> sizes');
      expect([await post(url, body, FORGED), await post(url, body)]).toEqual([401, 401]);
      expect(await post(url, body, signed(body, SECRET))).toBe(200);
      const [forged, , good] = [await listener.object(), await listener.object(), await listener.object()];
      expect(forged).toMatchObject({ reason: expect.stringContaining('does not match') as unknown });
      expect(good).toMatchObject({
        event: 'envelope.sent',
        envelopeId: 'env_deep',
        verified: true,
        reason: null,
      });
      expect(Buffer.from(String(good.bodyBase64), 'base64').toString()).toBe(body);
      await listener.stop();
      const { deliveryId, bytes } = await latest();
      expect(bytes).toBe(body.length);
      const shown = await home.run`events show ${String(deliveryId)}`;
      expect([shown.code, shown.stdout.length > body.length, shown.stdout.length < 2 * body.length]).toEqual([
        0,
        true,
        true,
      ]);
      expect(Number((await readFile(home.path('sizes'), 'utf8')).trim().split('\n').at(-1))).toBeGreaterThan(
        body.length,
      );
    },
  );
});

describe('a refused delivery', () => {
  it("doesn't fill the journal or the terminal: 4 KiB of its body and short facts are kept", async () => {
    const [listener, url] = await listen();
    const long = 'x'.repeat(200_000);
    const body = JSON.stringify({
      id: long,
      event: long,
      data: { envelopeId: long, status: long, signer: { email: long } },
    });
    for (let n = 0; n < 3; n++) expect(await post(url, body, { 'X-Long': 'y'.repeat(8_000) })).toBe(401);
    const line = await listener.line();
    expect(line.length).toBeLessThan(10_000);
    await listener.stop();
    const kept = await latest();
    expect(Buffer.from(String(kept.bodyBase64), 'base64').toString()).toBe(body.slice(0, 4_096));
    expect(kept).toMatchObject({ bytes: body.length, event: `${'x'.repeat(200)}…`, answer: 401 });
    expect(JSON.stringify(kept).length).toBeLessThan(10_000);
  });
});

describe('a sender', () => {
  it("can't choose the delivery ID or the Host, which the application gets from us", async () => {
    const got: string[][] = [];
    const app = createServer((request, response) => {
      got.push(request.rawHeaders);
      response.end();
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${portOf(app)}`;
    const [listener, url] = await listen(`--forward-to http://${host}/app`);
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

  it("can't have Authorization and Cookie headers shown", async () => {
    const [listener, url] = await listen();
    const body = payload('env_headers');
    await post(url, body, {
      ...signed(body, SECRET),
      Authorization: 'Bearer canary-auth',
      Cookie: 'a=canary-cookie',
    });
    await listener.stop();
    const { deliveryId } = await latest();
    const show = ['events', 'show', String(deliveryId)];
    const outputs = [await home.run(show), await home.run`${show} --json`].map(({ stdout }) => stdout);
    for (const output of outputs) {
      expect(output).toMatch(/authorization/i);
      expect(output).not.toContain('canary-');
    }
  });

  it("can't be a web page if signatures are not checked", async () => {
    const [listener, url] = await listen('--no-verify', '--exec', 'echo ran >> ran');
    await listener.object();
    expect(
      await post(url, payload('env_web'), { Origin: 'http://evil.example', 'Content-Type': 'text/plain' }),
    ).toBe(403);
    expect(await listener.object()).toMatchObject({
      verified: false,
      reason: expect.stringContaining('a web page') as unknown,
    });
    await listener.stop();
    await expect(stat(home.path('ran'))).rejects.toThrow('ENOENT');
  });

  it("can't prevent --exec from running by sending a NUL or a length", async () => {
    const [listener, url] = await listen('--no-verify', '--exec', 'echo "$ESIGN_EVENT" | wc -c >> lengths');
    await listener.object();
    for (const event of ['a\u0000b', 'x'.repeat(300_000)])
      expect(await post(url, JSON.stringify({ event, data: {} }))).toBe(200);
    await listener.stop();
    expect((await readFile(home.path('lengths'), 'utf8')).trim().split(/\s+/)).toEqual(['3', '4097']);
  });
});

describe('the secrets', () => {
  const stored = (all: unknown[]) =>
    writeFile(home.path('config', 'webhook-secrets.json'), JSON.stringify({ secrets: all }));
  const entry = (requestId: string, secret: string, more: object) => ({
    baseUrl: 'http://127.0.0.1/',
    requestId,
    secret,
    ...more,
  });

  it('are read as soon as they are stored, even while another delivery is checked', async () => {
    const secretOf = (id: string) => `secret-of-${id}-0123456789`;
    const all: unknown[] = [];
    const add = (envelopeId: string) => {
      all.push(entry(envelopeId, secretOf(envelopeId), { createdAt: Date.now(), envelopeId }));
      return writeConfig(all);
    };
    const [listener, url] = await listen();
    const answer = (id: string) => post(url, payload(id), signed(payload(id), secretOf(id)));
    for (const id of ['env_1', 'env_2', 'env_3']) {
      await add(id);
      expect(await Promise.all([answer('env_1'), answer(id)])).toEqual([200, 200]);
    }
    await listener.stop();
  });

  it('are kept for a day after a create without a response, and not used for an envelope with its own', async () => {
    const day = 86_400_000;
    await home.run`profiles list`;
    const [fresh, stale, own] = [
      'fresh-secret-0123456789',
      'stale-secret-0123456789',
      'owned-secret-0123456789',
    ];
    await writeConfig([
      entry('r1', fresh, { createdAt: Date.now() - day / 2 }),
      entry('r2', stale, { createdAt: Date.now() - day * 1.1 }),
      entry('r3', own, { createdAt: Date.now(), envelopeId: 'env_own' }),
    ]);
    const [listener, url] = await listen();
    const answer = (id: string, secret: string) => post(url, payload(id), signed(payload(id), secret));
    expect([await answer('env_any', fresh), await answer('env_own', own)]).toEqual([200, 200]);
    expect([await answer('env_other', stale), await answer('env_own', fresh)]).toEqual([401, 401]);
    // A payload may name its envelope elsewhere, or not at all.
    const send = (data: object, secret: string) => {
      const body = JSON.stringify({ event: 'envelope.declined', data });
      return post(url, body, signed(body, secret));
    };
    const nested = { envelope: { id: 'env_own' } };
    expect([await send(nested, own), await send({ id: 'env_own' }, own), await send({}, own)]).toEqual([
      200, 200, 200,
    ]);
    expect([await send(nested, fresh), await send({ id: 'env_any' }, own), await send({}, stale)]).toEqual([
      401, 401, 401,
    ]);
    for (let i = 0; i < 4; i++) await listener.object();
    const named = [await listener.object(), await listener.object(), await listener.object()];
    expect(named.map(({ envelopeId }) => envelopeId)).toEqual(['env_own', 'env_own', null]);
    await listener.stop();
  });

  it('are found for new envelopes after the clock was set back', async () => {
    await writeConfig([]);
    const shift = home.path('clock.cjs');
    await writeFile(
      shift,
      `const now = Date.now; const { existsSync } = require('node:fs');
       Date.now = () => now() - (existsSync(${JSON.stringify(home.path('back'))}) ? 3_600_000 : 0);`,
    );
    const listener = home.start(words('listen --port 0 --json'), {
      env: { NODE_OPTIONS: `--require ${shift}` },
    });
    const { url } = await listener.object();
    expect(await post(url, payload('env_new'), signed(payload('env_new'), 'new-secret-0123456789'))).toBe(
      401,
    );
    await writeFile(home.path('back'), '');
    await writeConfig([
      entry('r1', 'new-secret-0123456789', { createdAt: Date.now(), envelopeId: 'env_new' }),
    ]);
    let answer = 0;
    while (answer !== 200)
      answer = await post(url, payload('env_new'), signed(payload('env_new'), 'new-secret-0123456789'));
    await listener.stop();
  });

  async function writeConfig(all: unknown[]): Promise<void> {
    await home.shell('mkdir -p -m 700 config');
    await stored(all);
  }
});

describe('started programs', () => {
  it('get none of our secrets in their environment', async () => {
    const env = {
      ESIGN_API_KEY: 'canary-key',
      AWS_SECRET_ACCESS_KEY: 'canary-aws',
      AWS_SESSION_TOKEN: 'canary-token',
      KEPT: 'kept',
    };
    const listener = home.start([...words('listen --port 0 --json --exec'), 'env > env'], { env });
    const { url } = await listener.object();
    await post(url, payload('env_child'), signed(payload('env_child'), SECRET));
    await listener.stop();
    const given = await readFile(home.path('env'), 'utf8');
    expect(given).toContain('KEPT=kept');
    expect(given).toContain('ESIGN_ENVELOPE_ID=env_child');
    expect(given).not.toContain('canary');
  });
});
