import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, reportedError } from '../support/cli.ts';

const home = new Home();

beforeAll(async () => {
  await home.sandbox();
});
afterAll(() => home.close());

const create = (...args: string[]) =>
  home.object`envelopes create --template tmpl_nda --signer 'Ada Lovelace <ada@example.com>' ${args}`;
const ADA = 'Ada Lovelace <ada@example.com>';
const idOf = (envelope: Record<string, unknown>) => String(envelope.id);
const lines = (text: string) => text.trimEnd().split('\n');

describe('templates', () => {
  it('are listed in every format', async () => {
    const [json, tsv, ids, found] = [
      await home.json`templates list`,
      await home.run`templates list`,
      await home.run`templates list -q`,
      await home.json`templates list --search LEASE`,
    ];
    expect(json).toHaveLength(4);
    expect(lines(tsv.stdout).map((line) => line.split('\t').length)).toEqual([5, 5, 5, 5]);
    expect(lines(ids.stdout)).toContain('tmpl_lease');
    expect(found).toMatchObject([{ id: 'tmpl_lease' }]);
  });

  it('are shown with fields and roles', async () => {
    const [json, text] = [
      await home.object`templates get tmpl_lease`,
      await home.run`templates get tmpl_lease`,
    ];
    expect(json).toMatchObject({ id: 'tmpl_lease', roles: ['Landlord', 'Tenant'] });
    expect(text.stdout).toMatch(/Landlord, Tenant\n/);
    expect(text.stdout).toContain('SIGNATURE');
  });

  it("have inferred roles if the service doesn't send them", async () => {
    await create();
    await home.choose({ 'template-roles': 'hidden' });
    const { stdout } = await home.run`templates get tmpl_nda`;
    await home.choose({ 'template-roles': 'shown' });
    expect(stdout).toMatch(/Signer \(inferred /);
  });
});

describe('envelopes create', () => {
  it('works as the README says: esign envelopes create --template ID --signer a@b.c', async () => {
    const { code, stdout, stderr } = await home.run`envelopes create --template tmpl_nda --signer a@b.c`;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^env_\w+\tDRAFT\n$/);
    expect(stderr).toContain('a@b.c has no name');
    const quiet = await home.run`envelopes create --template tmpl_nda --signer 'Ada <a@b.c>' -q`;
    expect(quiet).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^env_\w+\n$/) as unknown,
      stderr: '',
    });
  });

  it('accepts names, roles, order, metadata, files, and --send', async () => {
    await Promise.all([
      writeFile(home.path('message.txt'), 'Dear both,\nplease sign.\n'),
      writeFile(home.path('signers.csv'), '\uFEFFemail,name,role,order\nli@example.com,李小龍,Tenant,2\n'),
      writeFile(home.path('meta.json'), '{"nested":{"deal":4711}}'),
    ]);
    const envelope = await home.object([
      'envelopes',
      'create',
      '--template',
      'tmpl_lease',
      '--signer',
      'Łukasz Řehoř <l@example.com>;role=Landlord;order=1',
      '--signers-file',
      'signers.csv',
      '--message-file',
      'message.txt',
      '--subject',
      'Your lease',
      '--metadata',
      'flat=12',
      '--metadata-file',
      'meta.json',
      '--expires-in-days',
      '7',
      '--signing-order',
      'sequential',
      '--send',
    ]);
    expect(envelope).toMatchObject({
      status: 'SENT',
      subject: 'Your lease',
      message: 'Dear both,\nplease sign.\n',
      signingOrder: 'SEQUENTIAL',
      metadata: { flat: '12', nested: { deal: 4711 } },
      signers: [
        { name: 'Łukasz Řehoř', role: 'Landlord', order: 1, status: 'SENT' },
        { name: '李小龍', role: 'Tenant', order: 2, status: 'PENDING' },
      ],
    });
  });

  it.each([
    ['a JSON array', '[{"email":"li@example.com","name":"Li","role":"","order":""},"Bo <bo@example.com>"]'],
    ['CSV', 'email,name\nli@example.com,Li\n\nbo@example.com, Bo\n'],
  ])('reads signers from %s', async (_, text) => {
    await writeFile(home.path('signers'), text);
    const envelope = await home.object([
      ...['envelopes', 'create', '--template', 'tmpl_nda', '--signers-file', 'signers'],
    ]);
    expect(envelope.signers).toMatchObject([
      { email: 'li@example.com', name: 'Li' },
      { email: 'bo@example.com', name: 'Bo' },
    ]);
  });

  it.each([
    ['a single object', '{"email":"a@b.c"}', 'not a JSON array'],
    ['torn JSON', '[{"email":"a@b.c"', 'not a JSON array'],
    ['a row too long', 'email,name\na@b.c,Ada,Tenant\n', 'signers, signer 1: '],
    ['no email', '[{"email":"a@b.c"},{"name":"Bo"}]', 'signer 2 has no email'],
    ['a misspelled column', 'email,rolle\na@b.c,Tenant\n', 'signers, signer 1: "rolle"'],
    ['a number', '[7]', 'signer 1 has no email'],
  ])('refuses a signers file with %s, and creates nothing', async (_, text, says) => {
    await writeFile(home.path('signers'), text);
    const before = await home.json`envelopes list --all`;
    const args = ['envelopes', 'create', '--template', 'tmpl_nda', '--signers-file', 'signers', '--json'];
    const refused = await home.run(args);
    expect(refused.code).toBe(2);
    expect(reportedError(refused)).toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(says) as unknown,
      hint: expect.stringMatching(
        /email,name,role,order|email, name, role, order|"email":"a@b\.c"/,
      ) as unknown,
    });
    expect(await home.json`envelopes list --all`).toEqual(before);
  });

  it('creates one envelope per request ID, however often it runs', async () => {
    const first = await create('--request-id', 'deal-1');
    const again =
      await home.run`envelopes create --template tmpl_nda --signer ${ADA} --request-id deal-1 --json`;
    expect(parseJson(again.stdout)).toMatchObject({ id: first.id });
    expect(again.stderr).toContain('Nothing new was created');
    const other =
      await home.run`envelopes create --template tmpl_nda --signer bo@example.com --request-id deal-1 --json`;
    expect(other.code).toBe(2);
    expect(reportedError(other)).toMatchObject({
      code: 'REQUEST_ID_USED',
      message: expect.stringContaining(idOf(first)) as unknown,
    });
  });

  it('shows the body, hides the secret, and sends nothing with --dry-run', async () => {
    await writeFile(home.path('secret'), 'canary-secret-0123456789\n');
    const args = [
      '--webhook-url',
      'https://example.com/h',
      '--webhook-secret-file',
      'secret',
      '--metadata',
      'dry=run',
    ];
    const { stdout, stderr } =
      await home.run`envelopes create --template tmpl_nda --signer ada@example.com --dry-run ${args}`;
    expect(stdout + stderr).not.toContain('canary');
    expect(parseJson(stdout)).toMatchObject({
      dryRun: true,
      body: { templateId: 'tmpl_nda', webhookSecret: '[redacted]' },
    });
    expect(await home.json`find dry --all`).toEqual([]);
  });
});

describe('a DECLINED envelope', () => {
  it('is canceled only with --even-if-declined, alone and among others', async () => {
    const send = async () => idOf(await create('--send'));
    const [declined, open] = [await send(), await send()];
    await home.run`sandbox decline ${declined} --reason rent`;
    const alone = await home.run`envelopes cancel ${declined} --json`;
    expect([alone.code, reportedError(alone).code]).toEqual([5, 'INVALID_STATE']);
    const both = await home.run`envelopes cancel ${declined} ${open} --yes --json`;
    expect(both.code).toBe(10);
    expect(lines(both.stdout).map(parseJson)).toMatchObject([
      { id: declined, ok: false, error: { code: 'INVALID_STATE' } },
      { id: open, ok: true, envelope: { status: 'CANCELLED' } },
    ]);
    expect(await home.object`envelopes get ${declined}`).toMatchObject({ status: 'DECLINED' });
    const forced = await home.object`envelopes cancel ${declined} --even-if-declined`;
    expect(forced).toMatchObject({ status: 'CANCELLED' });
  });
});

describe('envelopes list', () => {
  it('filters, limits with a notice, and prints IDs for pipes', async () => {
    for (let i = 0; i < 3; i++) await create('--metadata', 'batch=list', '--send');
    const [found, limited, none, sent] = [
      await home.json`envelopes list --metadata batch=list --signer ADA@ --since 1h --all`,
      await home.run`envelopes list -L 2`,
      await home.run`envelopes list --older-than 1h`,
      await home.run`envelopes list --status sent,signing --expiring-in 31d -q --all`,
    ];
    expect(found).toHaveLength(3);
    expect(lines(limited.stdout)).toHaveLength(2);
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(lines(sent.stdout).length).toBeGreaterThanOrEqual(3);
  });

  it('shows selected fields and sorts', async () => {
    await create();
    const { stdout } =
      await home.run`envelopes list --fields createdAt,signers.0.email --sort createdAt --all`;
    const times = lines(stdout).map((line) => line.split('\t')[0] ?? '');
    expect(times).toEqual([...times].sort());
    expect(stdout).toContain('\tada@example.com');
  });
});

describe('send, cancel, remind', () => {
  it('change one envelope, and print its status', async () => {
    const id = idOf(await create());
    expect(await home.object`envelopes send ${id}`).toMatchObject({ id, status: 'SENT' });
    expect(await home.object`envelopes remind ${id} --signer ada@example.com`).toMatchObject({
      id,
      status: 'SENT',
    });
    expect((await home.run`envelopes cancel ${id} --reason changed`).stdout).toBe(`${id}\tCANCELLED\n`);
  });

  it("ask before changing several, and send nothing if they can't ask", async () => {
    const ids = [idOf(await create()), idOf(await create())];
    const refused = await home.run`envelopes send ${ids} --json`;
    expect(refused.code).toBe(2);
    expect(reportedError(refused)).toMatchObject({
      code: 'USAGE',
      hint: expect.stringContaining('--yes') as unknown,
    });
    expect(await home.object`envelopes get ${ids[0] ?? ''}`).toMatchObject({ status: 'DRAFT' });
    const dry = await home.run(argv`envelopes send - --dry-run`, { input: ids.join('\n') });
    expect(dry.stdout).toBe(ids.map((id) => `would send ${id}\n`).join(''));
  });

  it('process all of several, report each, and exit with 10 if some failed', async () => {
    const good = idOf(await create());
    const { code, stdout, stderr } = await home.run(argv`envelopes send - --yes --json`, {
      input: `env_missing\n${good}\n`,
    });
    expect(code).toBe(10);
    expect(lines(stdout).map(parseJson)).toMatchObject([
      { id: 'env_missing', ok: false, error: { code: 'NOT_FOUND', exitCode: 4 } },
      { id: good, ok: true, envelope: { status: 'SENT' } },
    ]);
    expect(stderr).toContain('PARTIAL');
  });
});

describe('envelopes get', () => {
  it('describes one as text, and prints several as JSON lines in order', async () => {
    const [a, b] = [idOf(await create('--metadata', 'deal=9')), idOf(await create())];
    const text = await home.run`envelopes get ${a}`;
    expect(text.stdout).toContain('Ada Lovelace <ada@example.com>, Signer');
    expect(text.stdout).toContain('document.pdf');
    expect(text.stdout).toContain('deal');
    const several = await home.run`envelopes get ${b} ${a} --json`;
    expect(lines(several.stdout).map(parseJson)).toMatchObject([
      { id: b, ok: true },
      { id: a, ok: true },
    ]);
  });
});
