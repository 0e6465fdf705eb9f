import { readdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { Home, reportedError } from '../support/cli.ts';
import { openCommand } from '../support/pty.ts';

/* Creates an envelope from flags and files. What is checked first creates nothing. The prompts are in process/terminal-prompts. */
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});

const ADA = 'Ada Lovelace <ada@example.com>';
const NDA = ['envelopes', 'create', '--template', 'tmpl_nda'];
const LEASE = ['envelopes', 'create', '--template', 'tmpl_lease'];
const signers = (...list: string[]) => list.flatMap((one) => ['--signer', one]);
const count = async () => (await home.run`envelopes list --all -q`).stdout.split('\n').length;

/** Runs a command that must be refused as a usage error and must create nothing. Returns the message and the hint. */
async function refusal(args: readonly string[]): Promise<string> {
  const before = await count();
  const finished = await home.run([...args, '--json']);
  const { code, message, hint, outcome } = reportedError(finished);
  expect([finished.code, code]).toEqual([2, 'USAGE']);
  // A dry run has no outcome.
  expect(outcome ?? 'none').toBe('none');
  expect(await count()).toBe(before);
  return `${String(message)} ${String(hint)}`;
}

describe('envelopes create', () => {
  it('works as the README says: esign envelopes create --template ID --signer a@b.c', async () => {
    const { code, stdout, stderr } = await home.run([...NDA, '--signer', 'a@b.c']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^env_\w+\tDRAFT\n$/);
    expect(stderr).toContain('No name for a@b.c');
    const quiet = await home.run([...NDA, '--signer', 'Ada <a@b.c>', '-q']);
    expect([quiet.code, quiet.stderr]).toEqual([0, '']);
    expect(quiet.stdout).toMatch(/^env_\w+\n$/);
  });

  it('accepts names, roles, orders, a message file, metadata, an expiration, and --send', async () => {
    await writeFile(home.path('message.txt'), 'Dear both,\nplease sign.\n');
    await writeFile(
      home.path('signers.csv'),
      '\uFEFFemail,name,role,order\nli@example.com,李小龍,Tenant,2\n',
    );
    const envelope = await home.object([
      ...LEASE,
      ...['--signer', 'Łukasz Řehoř <l@example.com>;role=Landlord;order=1', '--signers-file', 'signers.csv'],
      ...['--message-file', 'message.txt', '--subject', 'Your lease', '--metadata', 'flat=12'],
      ...['--expires-in-days', '7', '--signing-order', 'sequential', '--send'],
    ]);
    expect(envelope).toMatchObject({
      status: 'SENT',
      subject: 'Your lease',
      message: 'Dear both,\nplease sign.\n',
      signingOrder: 'SEQUENTIAL',
      metadata: { flat: '12' },
      signers: [
        { name: 'Łukasz Řehoř', role: 'Landlord', order: 1, status: 'SENT' },
        { name: '李小龍', role: 'Tenant', order: 2, status: 'PENDING' },
      ],
    });
    expect(Date.parse(String(envelope.expiresAt)) - Date.parse(String(envelope.createdAt))).toBe(
      7 * 86_400_000,
    );
  });

  it('uses sequential signing if the signers have orders and no signing order is given', async () => {
    const roles = ['Ada <ada@example.com>;role=Tenant;order=2', 'Bo <bo@example.com>;role=Landlord;order=1'];
    expect(await home.object([...LEASE, ...signers(...roles)])).toMatchObject({ signingOrder: 'SEQUENTIAL' });
    const parallel = [...LEASE, ...signers(...roles), '--signing-order', 'parallel'];
    expect(await home.object(parallel)).toMatchObject({ signingOrder: 'PARALLEL' });
  });

  it.each([
    ['a JSON array', '[{"email":"li@example.com","name":"Li","role":"","order":""},"Bo <bo@example.com>"]'],
    ['CSV', 'email,name\nli@example.com,Li\n\nbo@example.com, Bo\n'],
  ])('reads signers from %s', async (_, text) => {
    await writeFile(home.path('signers'), text);
    const envelope = await home.object([...NDA, '--signers-file', 'signers']);
    expect(envelope.signers).toMatchObject([
      { email: 'li@example.com', name: 'Li' },
      { email: 'bo@example.com', name: 'Bo' },
    ]);
  });

  it('shows the body, hides the secret, and sends nothing with --dry-run', async () => {
    await writeFile(home.path('secret'), 'canary-secret-0123456789\n');
    const before = await count();
    const webhook = ['--webhook-url', 'https://example.com/h', '--webhook-secret-file', 'secret'];
    const { stdout, stderr } = await home.run([...NDA, '--signer', ADA, ...webhook, '--dry-run']);
    expect(stdout + stderr).not.toContain('canary');
    expect(parseJson(stdout)).toMatchObject({
      dryRun: true,
      body: { templateId: 'tmpl_nda', webhookSecret: '[redacted]' },
    });
    expect(await count()).toBe(before);
  });

  it('creates one envelope per request ID, however often it runs, and refuses the ID for other content', async () => {
    const args = [...NDA, '--signer', ADA, '--request-id', 'deal-1'];
    const first = await home.object(args);
    const again = await home.run([...args, '--json']);
    expect([again.code, parseJson(again.stdout)]).toMatchObject([0, { id: first.id }]);
    expect(again.stderr).toContain('this request ID was used before. Nothing was created');
    for (const other of [
      [...NDA, '--signer', 'bo@example.com'],
      [...LEASE, '--allow-missing-roles', '--signer', ADA],
    ]) {
      const used = await home.run([...other, '--request-id', 'deal-1', '--json']);
      expect([used.code, reportedError(used)]).toMatchObject([
        2,
        { code: 'REQUEST_ID_USED', message: expect.stringContaining(String(first.id)) as unknown },
      ]);
    }
    expect(await refusal([...NDA, '--signer', ADA, '--request-id', ''])).toContain('--request-id is empty.');
  });

  it.each([
    ['that begins with a space', ' deal-1'],
    ['that ends with a space', 'deal-1 '],
    ['of 201 characters', 'x'.repeat(201)],
  ])('refuses a request ID %s, which a service might not return unchanged', async (_, id) => {
    expect(await refusal([...NDA, '--signer', ADA, '--request-id', id])).toMatch(/space|200 characters/);
  });
});

describe('a signers file', () => {
  it.each([
    ['a single object', '{"email":"a@b.c"}', 'not a JSON array'],
    ['torn JSON', '[{"email":"a@b.c"', 'not a JSON array'],
    ['a row too long', 'email,name\na@b.c,Ada,Tenant\n', 'signers, signer 1: '],
    ['no email', '[{"email":"a@b.c"},{"name":"Bo"}]', 'signer 2 has no email'],
    ['a misspelled column', 'email,rolle\na@b.c,Tenant\n', 'signers, signer 1: "rolle"'],
    ['a number', '[7]', 'signer 1 has no email'],
  ])('with %s is refused, with the format', async (_, text, says) => {
    await writeFile(home.path('signers'), text);
    const refused = await refusal([...NDA, '--signers-file', 'signers']);
    expect(refused).toContain(says);
    expect(refused).toMatch(/email,name,role,order|email, name, role, order|"email":"a@b\.c"/);
  });

  it.each([
    ['message', 'Grüße'],
    ['signers', 'email,name\na@b.co,Jörg\n'],
  ])('in another encoding is refused, like a message file: %s', async (what, text) => {
    await writeFile(home.path(what), text, 'latin1');
    const refused = await refusal([...NDA, ...signers(ADA), `--${what}-file`, what]);
    expect(refused).toContain(what);
    expect(refused).toContain('UTF-8');
    // This command doesn't have it.
    expect(refused).not.toContain('--encoding');
  });
});

describe('a check before anything is created', () => {
  const TENANT = 'Ada <ada@example.com>;role=Tenant';
  const LANDLORD = 'Bo <bo@example.com>;role=Landlord';

  it('refuses a role of the template without a signer unless --allow-missing-roles is given', async () => {
    for (const more of [[], ['--send'], ['--dry-run'], ['--request-id', 'lease-1']]) {
      const refused = await refusal([...LEASE, ...signers(TENANT), ...more]);
      expect(refused).toContain('Landlord');
      expect(refused).toContain('--allow-missing-roles');
    }
    const run = await home.run([...LEASE, ...signers(TENANT), '--allow-missing-roles']);
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('Landlord')]);
  });

  it.each([
    ['an address twice', [TENANT, 'Ada <ADA@example.com>;role=Landlord'], ['ada@example.com', 'twice']],
    ['a role twice', [TENANT, 'Cy <cy@example.com>;role=Tenant', LANDLORD], ['cy@example.com', 'Tenant']],
  ])('prints a notice about %s, and creates the envelope', async (_, list, facts) => {
    const run = await home.run([...LEASE, ...signers(...list)]);
    expect(run.code).toBe(0);
    for (const fact of facts) expect(run.stderr).toContain(fact);
  });

  it('refuses an unknown role and an unknown template, with suggestions', async () => {
    const tennant = signers('Ada <ada@example.com>;role=Tennant');
    expect(await refusal([...LEASE, ...tennant, '--dry-run'])).toContain('did you mean Tenant?');
    const unknown = await home.run(['envelopes', 'create', '--template', 'tmpl_leas', ...tennant, '--json']);
    expect([unknown.code, reportedError(unknown)]).toMatchObject([
      4,
      { code: 'NOT_FOUND', hint: expect.stringContaining('tmpl_lease') as unknown },
    ]);
  });

  it('refuses a secret that is too short or has no URL, and metadata keys of esign or twice', async () => {
    await writeFile(home.path('short'), 'short');
    await writeFile(home.path('long'), 'long enough, really');
    const url = ['--webhook-url', 'https://example.com/h'];
    const create = [...NDA, '--signer', ADA];
    expect(await refusal([...create, ...url, '--webhook-secret-file', 'short'])).toContain('too short');
    expect(await refusal([...create, '--webhook-secret-file', 'long'])).toContain('--webhook-url');
    expect(await refusal([...create, '--metadata', 'esignRequestId=deal-1'])).toContain('reserved');
    expect(await refusal([...create, '--metadata', 'deal=1', '--metadata', 'deal=2'])).toContain(
      'deal is given twice',
    );
  });

  it("accepts an empty message, and refuses a subject that an email can't have", async () => {
    const shown = await home.object([...NDA, '--signer', ADA, '--message', '', '--dry-run']);
    expect(isRecord(shown.body) && shown.body.message).toBe('');
    const subject = (text: string) => refusal([...NDA, '--signer', ADA, '--subject', text, '--dry-run']);
    for (const blank of ['', ' ', '\u00a0']) expect(await subject(blank)).toContain('The subject is empty');
    expect(await subject('Lease\nBcc: eve@example.com')).toContain('The subject contains a line break');
  });
});

describe('create --send on a terminal', () => {
  const open = (...args: string[]) => openCommand(home, [...NDA, '--send', ...args]);
  const idOf = async (...args: string[]) => String((await home.object([...NDA, '--send', ...args])).id);

  it('asks if this machine sent the same in the last hour; no is the default, and --yes asks nothing', async () => {
    const same = ['--subject', 'Twice', ...signers('Una <una@example.com>')];
    const id = await idOf(...same);
    // Other content.
    await idOf('--subject', 'Other', ...signers('Una <una@example.com>'));
    const before = await count();
    const screen = open('--message', 'Another message', ...same);
    await screen.shows('Create it and email 1 person anyway');
    expect(screen.text().replaceAll(/\s+/g, ' ')).toMatch(
      new RegExp(`This machine sent the same request .* ago: ${id} \\(SENT\\)|just now: ${id}`),
    );
    screen.type('\r');
    expect([(await screen.ended).code, await count()]).toEqual([2, before]);
    expect((await open('--yes', ...same).ended).code).toBe(0);
    expect(await count()).toBe(before + 1);
  });

  it('asks also if the same was sent with a request ID, but not about its draft or for the same ID', async () => {
    const same = ['--subject', 'With an ID', ...signers('Xan <xan@example.com>')];
    const withId = ['--request-id', 'with-an-id', ...same];
    expect((await home.run(['envelopes', 'create', '--template', 'tmpl_nda', ...withId])).code).toBe(0);
    const screen = open(...withId);
    expect((await screen.ended).code).toBe(0);
    const before = await count();
    expect((await open(...withId).ended).code).toBe(0);
    const other = open(...same);
    await other.shows('Create it and email 1 person anyway');
    other.type('\r');
    expect([(await other.ended).code, await count()]).toEqual([2, before]);
  });

  it('does not ask after the envelope was canceled, or an hour later', async () => {
    const same = ['--subject', 'Canceled', ...signers('Vic <vic@example.com>')];
    await home.run(['envelopes', 'cancel', await idOf(...same)]);
    expect((await open(...same).ended).code).toBe(0);
    const old = ['--subject', 'Old', ...signers('Wes <wes@example.com>')];
    await idOf(...old);
    const folder = home.path('state', 'log');
    for (const name of await readdir(folder)) {
      const text = await readFile(home.path('state', 'log', name), 'utf8');
      const hourAgo = new Date(Date.now() - 3_700_000).toISOString();
      await writeFile(home.path('state', 'log', name), text.replaceAll(/"at":"[^"]+"/g, `"at":"${hourAgo}"`));
    }
    expect((await open(...old).ended).code).toBe(0);
  });

  it('shows who has signed the template or has it open, without asking because of it', async () => {
    const id = await idOf('--subject', 'First', ...signers('Xia <xia@example.com>'));
    await idOf('--subject', 'First', ...signers('Yan Yu <yan@example.com>'));
    await home.run`sandbox sign ${id}`;
    await home.run`find xia`;
    const screen = open('--subject', 'Next', ...signers('Xia <xia@example.com>', 'Yan Yu <yu@example.com>'));
    expect((await screen.ended).code).toBe(0);
    const text = screen.written().join(' ');
    expect(text).toContain('1 of these people has signed tmpl_nda');
    expect(text).toContain('yan@example.com=yu@example.com');
  });

  it('shows an envelope as signed that was open when it was last read', async () => {
    const id = await idOf('--subject', 'First', ...signers('Zoe <zoe@example.com>'));
    await home.run`find zoe`;
    await home.run`sandbox sign ${id}`;
    const screen = open('--subject', 'Next', ...signers('Zoe <zoe@example.com>'));
    expect((await screen.ended).code).toBe(0);
    const text = screen.written().join(' ');
    expect(text).toContain('The signer has signed tmpl_nda');
    expect(text).not.toContain('tmpl_nda open');
  });
});
