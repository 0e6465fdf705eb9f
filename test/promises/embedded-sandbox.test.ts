import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { PACKAGE } from '../support/cli.ts';
import { program } from '../support/program.ts';

/* Imports `esign-cli/sandbox` of the package under test by name, in a process that is independent of the tests. */

const START = `
  import { createHash } from 'node:crypto';
  import { startSandbox } from 'esign-cli/sandbox';
  const create = async ({ baseUrl, apiKey }, more = {}) => {
    const headers = { authorization: 'Bearer ' + apiKey, 'content-type': 'application/json' };
    const signers = [{ name: 'Ada', email: 'ada@example.com' }, { name: 'Bob', email: 'bob@example.com' }];
    const body = JSON.stringify({ templateId: 'tmpl_nda', signers, sendImmediately: true, ...more });
    const reply = await fetch(baseUrl + '/esign/envelopes', { method: 'POST', headers, body });
    return { date: reply.headers.get('date'), code: reply.status, ...(await reply.json()).data };
  };`;

// A standalone executable has no package.
describe.skipIf(PACKAGE === undefined)('a sandbox inside a test file', () => {
  let temporary = '';
  beforeAll(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'esign-e2e-'));
  });
  afterAll(() => rm(temporary, { recursive: true, force: true }));

  /** Returns the JSON that a program prints. */
  const outputOf = async (source: string): Promise<unknown> => {
    const whole = `${START}\nconst outputOf = await (async () => { ${source} })();\nconsole.log(JSON.stringify(outputOf));`;
    return parseJson(await program(whole, { TMPDIR: temporary }));
  };

  it('works as documented on its page', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/testing.md'), 'utf8');
    const [example = ''] = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
    expect(await program(example, { TMPDIR: temporary })).toMatch(
      /^Please sign: Confidentiality undertaking http:\/\/127\.0\.0\.1:\d+\/sign\/\w+\nCOMPLETED\n$/,
    );
  });

  it('starts with the seed of its page, and returns to it', { tags: ['full'] }, async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/testing.md'), 'utf8');
    await writeFile(join(temporary, 'seed.yaml'), /^```yaml\n(.*?)^```$/ms.exec(page)?.[1] ?? '');
    const seen = await outputOf(
      `const sandbox = await startSandbox({ seed: process.env.TMPDIR + '/seed.yaml' });
       const statuses = async (key) => {
         const reply = await fetch(sandbox.baseUrl + '/esign/envelopes', { headers: { authorization: 'Bearer ' + key } });
         return (await reply.json()).data.map(({ id, status }) => id + ' ' + status);
       };
       const before = await statuses(sandbox.apiKey);
       await sandbox.sign('env_waiting');
       const { envelopes } = await sandbox.seed({ envelopes: [{ id: 'env_more' }] });
       const wrong = await sandbox.seed({ envelopes: [{ id: 'a', template: 'b' }] }).catch(({ message }) => message);
       await sandbox.reset();
       const after = await statuses(sandbox.apiKey);
       const other = await statuses(sandbox.keys[0].key);
       await sandbox.close();
       return [before, JSON.stringify(after) === JSON.stringify(before), other, envelopes, wrong];`,
    );
    const wrong = "The seed can't be used: envelopes.0.template: Template b not found.";
    const own = ['env_done COMPLETED', 'env_waiting IN_PROGRESS'];
    expect(seen).toEqual([own, true, ['env_acme DRAFT'], 1, wrong]);
    await rm(join(temporary, 'seed.yaml'));
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
    await rm(folder, { recursive: true });
  });

  it('signs, views, declines, and moves the clock', async () => {
    const seen = await outputOf(
      `const sandbox = await startSandbox();
       const [one, two, three] = [await create(sandbox), await create(sandbox), await create(sandbox)];
       const viewed = await sandbox.view(one.id, { signer: 'BOB@example.com' });
       const first = await sandbox.sign(one.id, { signer: 'bob@example.com' });
       const all = await sandbox.sign(one.id, { all: true });
       const declined = await sandbox.decline(two.id, { reason: 'no' });
       const before = Date.now();
       const now = await sandbox.advance('31d');
       const late = await sandbox.sign(three.id).catch(({ code, message }) => ({ code, message }));
       await sandbox.close();
       const far = Math.round((Date.parse(now) - before) / 86_400_000);
       return [viewed.signers[1].status, first.status, all.status, declined.status, far, late];`,
    );
    const late = { code: 'INVALID_STATE', message: "Envelope is EXPIRED; it is no one's turn to sign" };
    expect(seen).toEqual(['VIEWED', 'IN_PROGRESS', 'COMPLETED', 'DECLINED', 31, late]);
  });

  it('returns emails with the signing link, and waits for one', { tags: ['full'] }, async () => {
    const seen = await outputOf(
      `const sandbox = await startSandbox();
       const coming = sandbox.mails({ to: 'Ada@example.com', wait: '20s' });
       const { id } = await create(sandbox);
       const [mail] = await coming;
       const page = await fetch(mail.link);
       const none = await sandbox.mails({ to: 'x@example.com', wait: 30 }).catch(({ code, message }) => ({ code, message }));
       const about = await sandbox.mails({ envelope: id });
       const deliveries = await sandbox.deliveries({ envelope: id });
       await sandbox.close();
       return [mail.envelopeId === id, mail.kind, page.status, none, about.map(({ to }) => to), deliveries];`,
    );
    const none = { code: 'WAIT_TIMEOUT', message: 'No email to x@example.com arrived within 30 ms.' };
    expect(seen).toEqual([true, 'request', 200, none, ['ada@example.com', 'bob@example.com'], []]);
  });

  it('restores a snapshot including documents, also after a restart', { tags: ['full'] }, async () => {
    const seen = await outputOf(
      `const dataDir = process.env.TMPDIR + '/kept';
       let sandbox = await startSandbox({ dataDir });
       const signed = async (id) => {
         const reply = await fetch(sandbox.dashboardUrl + 'envelopes/' + id + '/signed.pdf');
         return reply.status + ' ' + createHash('sha256').update(Buffer.from(await reply.arrayBuffer())).digest('hex');
       };
       const { id } = await create(sandbox);
       await sandbox.sign(id, { all: true });
       const before = await signed(id);
       const first = await sandbox.snapshot();
       await sandbox.reset();
       const gone = await signed(id);
       await sandbox.restore(first);
       const after = await signed(id);
       const two = await create(sandbox);
       await sandbox.snapshot('second');
       await sandbox.sign(two.id, { all: true });
       await sandbox.close();
       sandbox = await startSandbox({ dataDir });
       const late = await signed(two.id);
       await sandbox.restore();
       const open = await signed(two.id);
       const still = await signed(id);
       const missing = await sandbox.restore('nothing').catch(({ code }) => code);
       await sandbox.close();
       return [before === after, before === still, gone.slice(0, 3), late.slice(0, 3), open.slice(0, 3), missing];`,
    );
    expect(seen).toEqual([true, true, '404', '200', '404', 'NOT_FOUND']);
    await rm(join(temporary, 'kept'), { recursive: true });
  });

  it('has its own clock, quota, and rate limit', { tags: ['full'] }, async () => {
    const seen = await outputOf(
      `const sandbox = await startSandbox({ clock: '2030-05-01', quota: 1, rateLimit: '3/1h' });
       const replies = [];
       for (let nth = 0; nth < 4; nth++) replies.push(await create(sandbox));
       await sandbox.close();
       return [replies.map(({ code }) => code), replies[0].date.slice(5, 16), replies[0].createdAt.slice(0, 10)];`,
    );
    expect(seen).toEqual([[201, 403, 403, 429], '01 May 2030', '2030-05-01']);
  });

  it('keeps its state in a given folder, and clears it with reset', { tags: ['full'] }, async () => {
    const seen = await outputOf(
      `const dataDir = process.env.TMPDIR + '/kept';
       const first = await startSandbox({ dataDir });
       const { id } = await create(first);
       await first.close();
       const again = await startSandbox({ dataDir });
       const { status } = await again.sign(id);
       await again.reset();
       const left = await again.mails();
       await again.close();
       return [status, left, first.apiKey === again.apiKey];`,
    );
    expect(seen).toEqual(['IN_PROGRESS', [], true]);
    await rm(join(temporary, 'kept'), { recursive: true });
  });

  it('refuses invalid options, and leaves no folder behind', async () => {
    const seen = await outputOf(
      `const refused = (options) => startSandbox(options).catch(({ name, message }) => name + ': ' + message);
       const one = await startSandbox();
       const taken = await refused({ port: Number(new URL(one.baseUrl).port) });
       await one.close();
       return [await refused({ clock: 'soon' }), await refused({ rateLimit: 'much' }), taken,
         await refused({ rateLimit: { requests: 0, seconds: 1 } }), await refused({ quota: -1 }),
         await refused({ port: 'x' }), await refused({ port: 70000 }), await refused({ seed: 5 }),
         await refused({ ratelimit: '3/1h' }), await refused({ apiKey: 'short' }), await refused({ faults: { lost: {} } }), await refused({ choices: { 'list-itms': 'full' } })];`,
    );
    expect(seen).toEqual([
      expect.stringMatching(/^UsageError: .*"soon"/),
      expect.stringMatching(/^UsageError: .*"much" .*N\/TIME/),
      expect.stringMatching(/^UsageError: Port \d+ is already in use/),
      expect.stringMatching(/^UsageError: .*\{"requests":0,"seconds":1\}/),
      expect.stringMatching(/^UsageError: quota .* 0, not -1/),
      expect.stringMatching(/^UsageError: port .* 0 to 65535, not x/),
      expect.stringMatching(/^UsageError: port .* 0 to 65535, not 70000/),
      expect.stringMatching(/^UsageError: The seed /),
      'UsageError: startSandbox has no option "ratelimit".',
      expect.stringMatching(/^UsageError: apiKey /),
      expect.stringMatching(/^UsageError: .*lost/),
      expect.stringMatching(/^UsageError: .*list-itms/),
    ]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('rejects invalid calls, and never throws synchronously', { tags: ['full'] }, async () => {
    const seen = await outputOf(
      `const one = await startSandbox();
       const wrong = [() => one.advance('soon'), () => one.sign(), () => one.view('env_0'), () => one.decline('env_0'),
         () => one.mails({ wait: 'soon' }), () => one.seed({ envelopes: 3 }), () => one.snapshot('../x'), () => one.restore('none')];
       const codes = await Promise.all(wrong.map((ask) => ask().catch(({ code }) => code)));
       await one.close();
       return codes;`,
    );
    expect(seen).toEqual([
      'USAGE',
      'NOT_FOUND',
      'NOT_FOUND',
      'NOT_FOUND',
      'USAGE',
      'USAGE',
      'VALIDATION_ERROR',
      'NOT_FOUND',
    ]);
  });

  it('refuses arguments with an unknown name or of another type', async () => {
    const seen = await outputOf(
      `const one = await startSandbox({ seed: { envelopes: [{ id: 'env_1', status: 'SENT' }] } });
       const wrong = [() => one.sign('env_1', 'ada@example.com'), () => one.sign('env_1', { who: 'x' }), () => one.sign('env_1', { signer: 5 }),
         () => one.sign('env_1', null), () => one.view('env_1', { signr: 'x' }), () => one.decline('env_1', { reason: 5 }),
         () => one.mails({ envelopeId: 'env_1' }), () => one.mails({ to: 5 }), () => one.mails(null), () => one.deliveries({ event: 'sent' }),
         () => one.choices(null), () => one.choices([]), () => one.snapshot(5), () => one.restore(null),
         ...[{ clock: true }, { clock: '0' }, { clock: '2026-02-30' }, { clock: { frozen: 'no' } }, { choices: null }, { choices: [] }, { faults: null }, { faults: [] }]
           .map((options) => () => startSandbox(options).then((two) => two.close()))];
       const codes = await Promise.all(wrong.map((ask) => ask().then(() => 'accepted', ({ name }) => name)));
       const { status } = await one.envelope('env_1');
       await one.close();
       return [status, codes];`,
    );
    expect(seen).toEqual(['SENT', Array.from({ length: 22 }, () => 'UsageError')]);
  });

  it('accepts faults, choices, and a fixed key, and returns the envelopes', { tags: ['full'] }, async () => {
    const seen = await outputOf(
      `const apiKey = 'esk_fixed_for_tests';
       const sandbox = await startSandbox({ apiKey, choices: { 'reset-header': 'milliseconds' }, faults: { error500: { times: 1 } },
         seed: { envelopes: [{ id: 'env_1', status: 'SENT' }] } });
       const [one, two] = [await create(sandbox), await create(sandbox)];
       const struck = await sandbox.faults();
       const none = await sandbox.faults({});
       const wrong = await sandbox.faults({ lost: {} }).catch(({ name, code, status, details, message }) => ({ name, code, status, details, message }));
       const choices = await sandbox.choices({ 'list-order': 'asc' });
       const listed = (await sandbox.envelopes()).map(({ id }) => id === two.id ? 'two' : id);
       const { status } = await sandbox.envelope('env_1');
       const missing = await sandbox.envelope('env_2').catch(({ code }) => code);
       await sandbox.reset();
       const restored = await sandbox.faults();
       await sandbox.close();
       return [sandbox.apiKey === apiKey, one.code, two.code, struck.hits, none, wrong, choices['reset-header'], choices['list-order'],
         listed, status, missing, restored.settings];`,
    );
    const wrong = {
      name: 'SandboxError',
      code: 'VALIDATION_ERROR',
      status: 400,
      details: { lost: ['Unknown field'] },
      message: 'The faults are not valid. lost: Unknown field',
    };
    const listed = ['env_1', 'two'];
    expect(seen).toEqual([
      ...[true, 500, 201, { error500: 1 }, { settings: {}, hits: {} }, wrong, 'milliseconds', 'asc'],
      ...[listed, 'SENT', 'NOT_FOUND', { error500: { times: 1 } }],
    ]);
  });

  it('waits for a webhook', { tags: ['full'] }, async () => {
    const seen = await outputOf(
      `const { createServer } = await import('node:http');
       const receiver = createServer((_, response) => response.writeHead(204).end()).listen(0, '127.0.0.1');
       await new Promise((resolve) => receiver.once('listening', resolve));
       const sandbox = await startSandbox();
       const coming = sandbox.deliveries({ event: 'envelope.completed', wait: '20s' });
       const { id } = await create(sandbox, { webhookUrl: 'http://127.0.0.1:' + receiver.address().port });
       await sandbox.sign(id, { all: true });
       const [delivery, ...more] = await coming;
       const none = await sandbox.deliveries({ envelope: id, event: 'envelope.declined', wait: 30 }).catch(({ code }) => code);
       await sandbox.close();
       receiver.close();
       return [delivery.envelopeId === id, delivery.event, delivery.attempts[0].status, more.length, none];`,
    );
    expect(seen).toEqual([true, 'envelope.completed', 204, 0, 'WAIT_TIMEOUT']);
  });

  it('rejects with CLOSED after close, including pending calls', async () => {
    const seen = await outputOf(
      `const one = await startSandbox();
       const waiting = one.mails({ wait: '1h' }).catch(({ code }) => code);
       await one.close();
       await one.close();
       const asks = [() => one.sign('env_1'), () => one.mails(), () => one.reset(), () => one.seed({}), () => one.envelopes(), () => one.faults()];
       return [await waiting, ...(await Promise.all(asks.map((ask) => ask().catch(({ name, code }) => name + ' ' + code))))];`,
    );
    expect(seen).toEqual(['CLOSED', ...Array<string>(6).fill('SandboxError CLOSED')]);
  });

  const startMany = (count: number) =>
    outputOf(
      `const all = await Promise.all(Array.from({ length: ${count} }, () => startSandbox()));
       const ids = await Promise.all(all.map(async (one) => (await create(one)).id));
       const statuses = await Promise.all(all.map(async (one, at) => (await one.sign(ids[at])).status));
       const mails = await Promise.all(all.map((one) => one.mails()));
       const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException'].map((name) => process.listenerCount(name));
       await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
       return [new Set(all.map(({ baseUrl }) => baseUrl)).size, [...new Set(statuses)], [...new Set(mails.map(({ length }) => length))], handlers];`,
    );

  it('can run five times in one process, handles no signals, and lets the process exit', async () => {
    expect(await startMany(5)).toEqual([5, ['IN_PROGRESS'], [2], [0, 0, 0, 0]]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('can be started fifty times at the same time', { tags: ['full'], timeout: 120_000 }, async () => {
    expect(await startMany(50)).toEqual([50, ['IN_PROGRESS'], [2], [0, 0, 0, 0]]);
    expect(readdirSync(temporary)).toEqual([]);
  });
});
