import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { EVENTS } from '../../src/kernel/vocabulary.ts';
import { sign } from '../../src/webhooks/receive/signature.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { portOf } from '../support/server.ts';
import { payload, post, signed } from '../support/webhooks.ts';

const SECRET = 'canarysecret-0123456789';
const home = new Home();
const LISTEN = argv`listen --port 0 --json`;

/** An application that receives webhooks and keeps them byte for byte. */
const got: { headers: string; signature: string; body: Buffer }[] = [];
let answers: number[] = [];
const app = createServer((request, response) => {
  void buffer(request).then((body) => {
    const signature = String(request.headers['x-service-signature']);
    got.push({ headers: request.rawHeaders.join(), signature, body });
    response.writeHead(answers.shift() ?? 200).end();
  });
});
let appUrl: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    app.listen(0, '127.0.0.1', resolve);
  });
  appUrl = `http://127.0.0.1:${portOf(app)}/app?x=1`;
  await writeFile(home.path('secret'), SECRET);
});
afterAll(() => void app.close());

/** Receives these payloads, and one with an invalid signature; returns the IDs of the deliveries, oldest first. */
async function receive(at: Home, ...bodies: string[]): Promise<string[]> {
  const listener = at.background(LISTEN, { env: { ESIGN_WEBHOOK_SECRET: SECRET } });
  const { url } = await listener.object();
  for (const body of bodies) expect(await post(url, body, signed(body, SECRET))).toBe(200);
  expect(await post(url, payload('env_forged'))).toBe(401);
  const ids = [];
  while (ids.length <= bodies.length) ids.push(String((await listener.object()).deliveryId));
  await listener.stop();
  return ids;
}

describe('the journal of webhooks', () => {
  it('is shown without secrets that this machine knows, even if a webhook contains one', async () => {
    const own = new Home();
    const [id = ''] = await receive(own, payload('env_1', 'envelope.sent', { note: SECRET }));
    const env = { ESIGN_WEBHOOK_SECRET: SECRET };
    for (const args of [
      argv`events list --json`,
      argv`events list --csv --fields body`,
      argv`events show ${id}`,
    ]) {
      const { code, stdout } = await own.run(args, { env });
      expect([code, stdout]).toEqual([0, expect.stringContaining('[redacted]')]);
      expect(stdout).not.toContain(SECRET);
    }
  });

  it('is private, and contains each delivery, which can be listed, shown, and resent byte for byte', async () => {
    const own = new Home();
    const spaced = '{ "event":"envelope.sent",\n "data":{"envelopeId":"env_1"} }\n';
    const ids = await receive(own, spaced, payload('env_2', 'envelope.completed'));
    expect(await own.json`events list`).toMatchObject([
      { envelopeId: 'env_forged', verified: false, answer: 401 },
      { envelopeId: 'env_2', event: 'envelope.completed', verified: true },
      { envelopeId: 'env_1', verified: true, body: { event: 'envelope.sent' } },
    ]);
    expect((await own.run`events list -q`).stdout.trim().split('\n')).toEqual(ids.toReversed());
    const [id = '', second = '', forged = ''] = ids;
    const shown = await own.run`events show ${id.slice(0, 12)}`;
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('env_1')]);
    got.length = 0;
    const replayed = await own.run`events replay ${id} --to ${appUrl} --json`;
    expect([replayed.code, got[0]?.body.toString()]).toEqual([0, spaced]);
    expect(got[0]?.headers).toContain(`X-Esign-Delivery-Id,${id}`);
    got.length = 0;
    const dryRun = await own.run(argv`events replay - --to ${appUrl} --dry-run --json`, { input: `${id}\n` });
    expect(jsonLines(dryRun.stdout)).toMatchObject([{ dryRun: true, action: 'send', id }]);
    const both = await own.run(argv`events replay - --to ${appUrl}`, { input: `${second}\n${id}\n` });
    expect([both.code, got.map(({ body }) => body.toString())]).toEqual([
      0,
      [spaced, payload('env_2', 'envelope.completed')],
    ]);
    expect((await own.run`events list env_2 -q`).stdout).toBe(`${second}\n`);
    // Refused deliveries may be forged.
    expect((await own.run`events replay ${forged} --to ${appUrl}`).code).toBe(2);
    expect((await own.run`events show dlv_none`).code).toBe(4);
    const { id: eventId } = await own.object`events show ${id}`;
    expect(await own.object`events show ${String(eventId)}`).toMatchObject({ deliveryId: id });
    expect(await own.object`events show ${forged}`).toMatchObject({ envelopeId: 'env_forged', answer: 401 });
    const folder = own.path('state', 'events');
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jsonl'));
    for (const name of files) {
      expect((await stat(join(folder, name))).mode & 0o077).toBe(0);
      expect(await readFile(join(folder, name), 'utf8')).not.toContain(SECRET);
    }
    expect(files.length).toBeGreaterThan(0);
  });

  it.each([
    ['header', 0, 4],
    ['record', 2, 3],
  ])('is read without a damaged %s, which is reported', async (_, line, left) => {
    const own = new Home();
    await receive(own, payload('env_1'), payload('env_2'), payload('env_3'));
    const folder = own.path('state', 'events');
    const names = await readdir(folder, { recursive: true });
    const path = join(folder, names.find((name) => name.endsWith('.jsonl')) ?? '');
    const lines = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, lines.map((text, at) => (at === line ? text.replace('e', 'f') : text)).join('\n'));
    const list = await own.run`events list --json`;
    expect([list.code, parseJson(list.stdout)]).toEqual([0, expect.any(Array)]);
    expect(parseJson(list.stdout)).toHaveLength(left);
    expect(list.stderr).toContain(path);
    expect((await own.run`events show dlv_lost`).stderr).toContain(path);
    const listener = own.background([...LISTEN, '--no-verify']);
    expect(await listener.object()).toMatchObject({ type: 'ready' });
    await listener.says(new RegExp(path.replaceAll('.', '\\.')));
    await listener.stop();
  });
});

describe('events replay', () => {
  let ids: string[];
  beforeAll(async () => {
    ids = (await receive(home, payload('env_60'), payload('env_61'), payload('env_62'))).slice(0, 3);
  });
  const replay = (...args: string[]) => home.run`events replay ${args} --json`;

  it('exits with 8 if the only delivery is refused, and prints the response', async () => {
    answers = [503];
    const { code, stdout, stderr } = await replay(ids[0] ?? '', '--to', appUrl);
    expect(code).toBe(8);
    expect(jsonLines(stdout)).toMatchObject([
      { type: 'forward', id: ids[0], status: 503, attempt: 1, error: 'responded with 503' },
    ]);
    expect(stderr).toMatch(/\/app .*: responded with 503/);
  });

  it('sends the others when one is refused, and exits with 10', async () => {
    answers = [200, 500];
    const { code, stdout } = await replay(...ids, '--to', appUrl);
    const results = jsonLines(stdout).map((line) => (isRecord(line) ? line.error : line));
    expect([code, results]).toEqual([10, [null, 'responded with 500', null]]);
  });

  it('exits with 8 if nothing is listening', async () => {
    const { code, stdout } = await replay(ids[0] ?? '', '--to', 'http://127.0.0.1:9/hooks');
    expect([code, jsonLines(stdout)]).toMatchObject([8, [{ status: null, error: 'ECONNREFUSED' }]]);
  });

  it('accepts a host and a port for http', async () => {
    const { code } = await replay(ids[0] ?? '', '--to', appUrl.replace('http://', ''));
    expect(code).toBe(0);
  });

  it.each([['ftp://127.0.0.1/hooks'], ['mailto:a@b.c'], ['hooks'], ['']])('refuses %s', async (to) => {
    const run = await replay(ids[0] ?? '', '--to', to);
    expect([run.code, run.stdout, reportedError(run).code]).toEqual([2, '', 'USAGE']);
  });
});

describe('events trigger', () => {
  it.each(EVENTS)("sends %s with the service's payload and signature", async (name) => {
    got.length = 0;
    const { code } = await home.run`events trigger ${name} --to ${appUrl} --secret-file secret`;
    expect(code).toBe(0);
    const [{ body, signature } = { body: Buffer.alloc(0), signature: '' }] = got;
    expect(signature).toBe(sign(body, SECRET));
    expect(parseJson(body.toString())).toMatchObject({ event: name, data: {} });
  });

  it('sends nothing with --dry-run or for an unknown event', async () => {
    got.length = 0;
    const { code, stdout } = await home.run`events trigger completed --to ${appUrl} --dry-run`;
    expect([code, stdout]).toEqual([0, expect.stringContaining('envelope.completed')]);
    expect((await home.run`events trigger complete --to ${appUrl}`).code).toBe(2);
    expect(got).toEqual([]);
  });
});

describe('deliveries', () => {
  it('are deleted after 400 days', async () => {
    const day = (age: number) => new Date(Date.now() - age * 86_400_000).toISOString().slice(0, 10);
    const folder = home.path('state', 'events');
    for (const age of [398, 402]) await mkdir(join(folder, day(age)), { recursive: true });
    const listener = home.background([...LISTEN, '--no-verify']);
    await listener.object();
    await eventually(async () => expect(await readdir(folder)).not.toContain(day(402)));
    await listener.stop();
    expect(await readdir(folder)).toContain(day(398));
  });
});
