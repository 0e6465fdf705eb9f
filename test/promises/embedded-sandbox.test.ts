import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { startSandbox } from '../../src/sandbox/embed.ts';
import type { RunningSandbox } from '../../src/sandbox/embed-model.ts';
import type { SandboxSeed, StartSandboxOptions } from '../../src/sandbox/embed-options.ts';
import { PACKAGE } from '../support/cli.ts';
import { program } from '../support/program.ts';
import { startServer } from '../support/server.ts';

const AT = '2030-05-01T09:00:00.000Z';
let temporary = '';
let open: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'esign-embedded-'));
});
afterAll(() => rm(temporary, { recursive: true, force: true }));
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  open = [];
});

async function start(options: StartSandboxOptions = {}): Promise<RunningSandbox> {
  const sandbox = await startSandbox(options);
  open.push(sandbox);
  return sandbox;
}

async function create(sandbox: RunningSandbox, more: Record<string, unknown> = {}) {
  const signers = [
    { name: 'Ada', email: 'ada@example.com' },
    { name: 'Bob', email: 'bob@example.com' },
  ];
  const reply = await fetch(`${sandbox.baseUrl}/esign/envelopes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ templateId: 'tmpl_nda', signers, sendImmediately: true, ...more }),
  });
  const body = parseJson(await reply.text());
  const data = isRecord(body) && isRecord(body.data) ? body.data : {};
  const date = reply.headers.get('date');
  return {
    date,
    code: reply.status,
    id: String(data.id),
    createdAt: data.createdAt,
    text: JSON.stringify(data),
  };
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: unknown) => (isRecord(error) ? String(error.code) : ''),
  );
/** Calls a method as code without types would. */
const untyped = (sandbox: RunningSandbox, method: keyof RunningSandbox, ...values: unknown[]) => {
  const call: unknown = Reflect.get(sandbox, method);
  if (typeof call !== 'function') throw new Error(`no method ${String(method)}`);
  return Promise.resolve(Reflect.apply(call, sandbox, values));
};

describe('an embedded sandbox', () => {
  it('signs, views, declines, and moves the clock', async () => {
    const sandbox = await start();
    const [one, two, three] = [await create(sandbox), await create(sandbox), await create(sandbox)];
    expect((await sandbox.view(one.id, { signer: 'BOB@example.com' })).signers[1]?.status).toBe('VIEWED');
    expect((await sandbox.sign(one.id, { signer: 'bob@example.com' })).status).toBe('IN_PROGRESS');
    expect((await sandbox.sign(one.id, { all: true })).status).toBe('COMPLETED');
    expect((await sandbox.decline(two.id, { reason: 'no' })).status).toBe('DECLINED');
    const now = await sandbox.advance('31d');
    expect(Math.round((Date.parse(now) - Date.now()) / 86_400_000)).toBe(31);
    expect(await codeOf(sandbox.sign(three.id))).toBe('INVALID_STATE');
    expect((await sandbox.envelope(three.id)).status).toBe('EXPIRED');
    expect((await sandbox.envelopes()).map(({ id }) => id)).toEqual([one.id, two.id, three.id]);
  });

  it('returns emails and webhooks, and waits for one', async () => {
    const receiver = await startServer((_request, response) => void response.writeHead(204).end());
    open.push(receiver);
    const sandbox = await start();
    const mail = sandbox.mails({ to: 'Ada@example.com', wait: '20s' });
    const webhook = sandbox.deliveries({ event: 'envelope.completed', wait: '20s' });
    const { id } = await create(sandbox, { webhookUrl: receiver.origin });
    const [first] = await mail;
    expect([first?.envelopeId, first?.kind, (await fetch(first?.link ?? '')).status]).toEqual([
      id,
      'request',
      200,
    ]);
    await sandbox.sign(id, { all: true });
    expect(await webhook).toMatchObject([{ envelopeId: id, attempts: [{ status: 204 }] }]);
    expect(await codeOf(sandbox.mails({ to: 'x@example.com', wait: 30 }))).toBe('WAIT_TIMEOUT');
    expect(await codeOf(sandbox.deliveries({ event: 'envelope.declined', wait: 30 }))).toBe('WAIT_TIMEOUT');
    expect((await sandbox.mails({ envelope: id })).length).toBeGreaterThan(2);
  });

  it('restores a snapshot with documents, emails, and the clock; without a name, the latest', async () => {
    const sandbox = await start();
    const signed = async (id: string) => {
      const reply = await fetch(`${sandbox.dashboardUrl}envelopes/${id}/signed.pdf`);
      return reply.status === 200 ? (await reply.arrayBuffer()).byteLength : reply.status;
    };
    const { id } = await create(sandbox);
    await sandbox.sign(id, { all: true });
    const before = await signed(id);
    const first = await sandbox.snapshot();
    await sandbox.advance('3d');
    await sandbox.reset();
    expect(await signed(id)).toBe(404);
    await sandbox.restore(first);
    expect(await signed(id)).toBe(before);
    expect(await sandbox.mails({ envelope: id })).toHaveLength(4);
    const two = await create(sandbox);
    expect(Date.parse(String(two.createdAt)) - Date.now()).toBeLessThan(60_000);
    await sandbox.snapshot('second');
    await sandbox.sign(two.id, { all: true });
    await sandbox.restore();
    expect([await signed(two.id), await signed(id)]).toEqual([404, before]);
    expect(await codeOf(sandbox.restore('nothing'))).toBe('NOT_FOUND');
  });

  it('has its own clock, quota, rate limit, and key', async () => {
    const apiKey = 'esk_fixed_for_tests';
    const sandbox = await start({ clock: '2030-05-01', quota: 1, rateLimit: '3/1h', apiKey });
    expect(sandbox.apiKey).toBe(apiKey);
    const replies = [];
    for (let nth = 0; nth < 4; nth += 1) replies.push(await create(sandbox));
    expect(replies.map(({ code }) => code)).toEqual([201, 403, 403, 429]);
    expect(replies[0]?.date).toContain('01 May 2030');
    expect(replies[0]?.createdAt).toMatch(/^2030-05-01/);
  });

  it('keeps its state in a given folder, and returns to its seed and faults with reset', async () => {
    const dataDir = join(temporary, 'kept');
    const initial = { faults: { error500: { times: 1 } } };
    const seed: SandboxSeed = { envelopes: [{ id: 'env_1', status: 'SENT' }] };
    const options = { dataDir, seed, ...initial };
    const first = await startSandbox(options);
    expect((await create(first)).code).toBe(500);
    expect(await first.faults()).toMatchObject({ hits: { error500: 1 } });
    await first.decline('env_1');
    await first.close();
    const again = await start(options);
    expect((await again.envelope('env_1')).status).toBe('DECLINED');
    expect(again.apiKey).toBe(first.apiKey);
    expect(await again.faults({})).toEqual({ settings: {}, hits: {} });
    await again.reset();
    expect((await again.envelope('env_1')).status).toBe('SENT');
    expect(await again.faults()).toMatchObject({ settings: initial.faults });
  });

  it.each<[string, unknown]>([
    ['"soon"', { clock: 'soon' }],
    ['"much"', { rateLimit: 'much' }],
    ['quota', { quota: -1 }],
    ['port', { port: 70_000 }],
    ['seed', { seed: 5 }],
    ['"ratelimit"', { ratelimit: '3/1h' }],
    ['apiKey', { apiKey: 'short' }],
    ['lost', { faults: { lost: {} } }],
    ['list-itms', { choices: { 'list-itms': 'full' } }],
    ['clock', { clock: { when: AT } }],
    ['ids', { ids: 'short' }],
    ['startSandbox', null],
  ])('refuses options and names what is wrong: %s', async (named, options) => {
    const started: Promise<unknown> = Promise.resolve(Reflect.apply(startSandbox, undefined, [options]));
    await expect(started).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(named) as unknown,
    });
  });

  it.each<[keyof RunningSandbox, unknown[], string]>([
    ['advance', ['soon'], 'USAGE'],
    ['sign', ['env_1', 'ada@example.com'], 'USAGE'],
    ['sign', ['env_1', { who: 'x' }], 'USAGE'],
    ['sign', [], 'NOT_FOUND'],
    ['view', ['env_0'], 'NOT_FOUND'],
    ['decline', ['env_1', { reason: 5 }], 'USAGE'],
    ['mails', [{ envelopeId: 'env_1' }], 'USAGE'],
    ['deliveries', [{ event: 'sent' }], 'USAGE'],
    ['seed', [{ envelopes: [{ id: 'a', template: 'b' }] }], 'USAGE'],
    ['faults', [{ lost: {} }], 'VALIDATION_ERROR'],
    ['restore', ['none'], 'NOT_FOUND'],
  ])('rejects %s(%j), and never throws', async (method, values, code) => {
    const sandbox = await start({ seed: { envelopes: [{ id: 'env_1', status: 'SENT' }] } });
    expect(await codeOf(untyped(sandbox, method, ...values))).toBe(code);
    expect((await sandbox.envelope('env_1')).status).toBe('SENT');
  });

  it('rejects with CLOSED after close, including pending calls', async () => {
    const one = await startSandbox();
    const waiting = codeOf(one.mails({ wait: '1h' }));
    await one.close();
    await one.close();
    expect([await waiting, await codeOf(one.sign('env_1')), await codeOf(one.reset())]).toEqual(
      Array<string>(3).fill('CLOSED'),
    );
  });

  it('gives the same responses, emails, and webhooks in each run with counted IDs and a frozen clock', async () => {
    const once = async () => {
      const { origin, seen, close } = await startServer((_, response) => void response.writeHead(200).end());
      open.push({ close });
      const sandbox = await start({
        ids: 'counted',
        clock: { at: AT, frozen: true },
        seed: { envelopes: [{ id: 'env_2' }] },
      });
      const made = [await create(sandbox, { webhookUrl: origin }), await create(sandbox)];
      await sandbox.sign('env_1');
      await sandbox.deliveries({ event: 'envelope.signed', wait: '20s' });
      const mails = JSON.stringify(await sandbox.mails());
      await sandbox.reset();
      expect((await create(sandbox)).id).toBe('env_1');
      const all = [...made.map(({ text }) => text), mails, ...seen.map(({ body }) => body)].join('\n');
      return all.replaceAll(new URL(sandbox.baseUrl).origin, 'SANDBOX').replaceAll(origin, 'RECEIVER');
    };
    const first = await once();
    expect(first).toBe(await once());
    const ids = [...new Set(first.match(/\b(env|signer|mail|org)_\w+/g))];
    expect(ids.filter((id) => !/_\d+$/.test(id))).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(['env_1', 'env_3', 'signer_3', 'mail_1']));
    expect(first).toContain(AT);
  });

  it('moves a frozen clock only with advance', async () => {
    const sandbox = await start({ clock: { at: AT, frozen: true } });
    const { id, text, date } = await create(sandbox, { expiresInDays: 1 });
    expect([text.includes(`"createdAt":"${AT}"`), date]).toEqual([true, new Date(AT).toUTCString()]);
    expect(await sandbox.advance('2d')).toBe('2030-05-03T09:00:00.000Z');
    expect((await sandbox.mails({ envelope: id })).map(({ kind }) => kind)).toContain('expired');
  });
});

// A standalone executable has no package.
describe.skipIf(PACKAGE === undefined)('the package esign-cli/sandbox', () => {
  it('works as documented on its page', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/testing.md'), 'utf8');
    const [example = ''] = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
    expect(await program(example, { TMPDIR: temporary })).toMatch(
      /^Please sign: Confidentiality undertaking http:\/\/127\.0\.0\.1:\d+\/sign\/\w+\nCOMPLETED\n$/,
    );
  });

  it('runs five times in one process, handles no signals, and lets the process exit', async () => {
    const folder = await mkdtemp(join(temporary, 'five-'));
    const printed = await program(
      `import { startSandbox } from 'esign-cli/sandbox';
       const all = await Promise.all(Array.from({ length: 5 }, () => startSandbox({ seed: { envelopes: [{ id: 'env_1', status: 'SENT' }] } })));
       const statuses = await Promise.all(all.map(async (one) => (await one.sign('env_1')).status));
       const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException'].map((name) => process.listenerCount(name));
       await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
       console.log(JSON.stringify([new Set(all.map(({ baseUrl }) => baseUrl)).size, [...new Set(statuses)], handlers]));`,
      { TMPDIR: folder },
    );
    expect(parseJson(printed)).toEqual([5, ['COMPLETED'], [0, 0, 0, 0]]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('has types, with and without those of Node', { tags: ['full'] }, async () => {
    const folder = join(temporary, 'typed');
    await mkdir(join(folder, 'node_modules'), { recursive: true });
    await symlink(PACKAGE ?? '', join(folder, 'node_modules', 'esign-cli'));
    const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', lib: ['es2022'], types: [] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['a.mts'] }));
    await writeFile(
      join(folder, 'a.mts'),
      `import { startSandbox } from 'esign-cli/sandbox';
       const sandbox = await startSandbox({ seed: { envelopes: [{ id: 'env_1', status: 'SENT' }] }, clock: '2030-01-01' });
       const link: string | null | undefined = (await sandbox.mails({ wait: '5s' }))[0]?.link;
       // @ts-expect-error there is no such status
       await startSandbox({ seed: { envelopes: [{ id: link ?? '', status: 'DONE' }] } });`,
    );
    const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
    const done = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
    expect([done.stdout, done.status]).toEqual(['', 0]);
  });
});
