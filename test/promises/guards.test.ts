import { mkdir, writeFile } from 'node:fs/promises';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { COMMAND_EFFECTS } from '../../src/kernel/command-effects.ts';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { Home, reportedError } from '../support/cli.ts';
import { canMount } from '../support/disk-faults.ts';
import { commands, ENDLESS, wordsOf } from '../support/every-command.ts';
import { answerPage, type FakeService, fakeService } from '../support/fake-service.ts';
import { openCommand } from '../support/pty.ts';
import { json } from '../support/server.ts';

const home = new Home();
let service: FakeService;

const people: Readonly<Record<string, readonly string[]>> = {
  env_ada: ['ada@example.com'],
  env_bo: ['bo@other.org'],
  env_both: ['ada@example.com', 'Ben@Example.com'],
};

function envelope(id: string, status = 'DRAFT') {
  const emails = people[id] ?? ['ada@example.com'];
  const signers = emails.map((email, index) => ({
    id: `signer_${index}`,
    email,
    name: email,
    status: 'SENT',
  }));
  return {
    id,
    templateId: 'tmpl_1',
    status,
    subject: 'Lease',
    signers,
    metadata: {},
    createdAt: '2026-01-02T03:04:05Z',
  };
}

/** Returns the requests since the last call that are not GET. */
function writes(): string[] {
  const seen = service.server.seen.splice(0);
  return seen.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);
}

/** Runs a command that is refused. Returns the code of its error. */
async function refused(words: readonly string[], env: Record<string, string> = {}): Promise<unknown> {
  const finished = await home.run([...words, '--json', '--no-input'], { env });
  const { code, exitCode } = reportedError(finished);
  expect({ exitCode, code: finished.code, writes: writes() }).toEqual({ exitCode: 2, code: 2, writes: [] });
  return code;
}

async function guard(...words: string[]): Promise<void> {
  const none = ['--no-read-only', '--no-only-to', '--no-max-emails', '--no-confirm-name'];
  await home.json(['profiles', 'edit', 'acme', ...none]);
  await home.json(['profiles', 'edit', 'acme', ...words]);
}

async function lastEntry(): Promise<Record<string, unknown>> {
  const list = await home.json`log`;
  const last: unknown = isList(list) ? list.at(-1) : undefined;
  return isRecord(last) ? last : {};
}

/** A member of a JSON object. */
function memberOf(text: string, name: string): unknown {
  const value = parseJson(text);
  return isRecord(value) ? value[name] : undefined;
}

beforeAll(async () => {
  service = await fakeService((request, response) => {
    const id = /\/envelopes\/(\w+)/.exec(request.path)?.[1];
    const isSent = request.headers['user-agent']?.includes('sent') || id === 'env_sent';
    const status = isSent ? 'SENT' : 'DRAFT';
    if (request.path.startsWith('/__sandbox')) return json(response, 404, { error: { code: 'NOT_FOUND' } });
    if (request.path.includes('/templates/'))
      return json(response, 200, { data: { id: 'tmpl_1', fields: [] } });
    if (id === 'env_gone') return json(response, 404, { error: { code: 'NOT_FOUND' } });
    if (id !== undefined && request.method === 'GET')
      return json(response, 200, { data: envelope(id, status) });
    if (request.method !== 'GET') return json(response, 201, { data: envelope(id ?? 'env_new', 'SENT') });
    return answerPage(request, response, 1, () =>
      request.path.endsWith('templates') ? { id: 'tmpl_1' } : envelope('env_ada', 'SENT'),
    );
  });
  await mkdir(home.path('given'));
  await writeFile(home.path('given', 'rows.csv'), 'email,name\nada@example.com,Ada\nbo@other.org,Bo\n');
  await writeFile(home.path('given', 'secret'), 'whsec_0123456789abcdef0123456789');
  await writeFile(home.path('given', 'text'), 'hello');
  await writeFile(
    home.path('body'),
    JSON.stringify({ templateId: 'tmpl_1', signers: [{ email: 'ada@example.com', name: 'Ada' }] }),
  );
  await home.run(
    [
      'profiles',
      'add',
      'acme',
      '--base-url',
      String(service.env.ESIGN_BASE_URL),
      '--api-key-file',
      '-',
      '--no-verify',
    ],
    { input: 'sk_guard_0123456789' },
  );
});
beforeEach(() => {
  // A test sees only its own requests.
  writes();
});

describe('a read-only profile', () => {
  beforeAll(() => guard('--read-only'));

  it('sends nothing but GET, whatever the command', { timeout: 120_000 }, async () => {
    const apart = /^(demo|sandbox:(start|exec)|profiles:(add|edit|remove|use))$/;
    const all = (await commands()).filter(([id]) => !apart.test(id));
    expect(all.length).toBeGreaterThan(40);
    const codes = new Map<string, unknown>();
    for (const [id, command] of all) {
      // A draft can't be reminded about, and an envelope isn't replaced by the same one.
      const more =
        { 'envelopes:replace': ['--subject', 'Other'], 'envelopes:remind': ['env_sent'] }[id] ?? [];
      const words =
        id === 'api'
          ? ['api', 'POST', '/esign/envelopes', '--body', 'body']
          : [...wordsOf(id, command), ...more];
      const under = ENDLESS.includes(id) ? ['timeout', '--signal=INT', '2'] : [];
      const env = { ESIGN_WEBHOOK_SECRET: 'whsec_0123456789abcdef0123456789' };
      const { stderr } = await home.run([...words, '--json'], { env, under });
      codes.set(id, /"code":"(\w+)"/.exec(stderr)?.[1]);
      expect(writes(), words.join(' ')).toEqual([]);
    }
    const emailing = all.map(([id]) => id).filter((id) => COMMAND_EFFECTS[id] === 'mails');
    const free = ['bulk:resume', 'mcp'];
    const open = emailing.filter((id) => codes.get(id) !== 'READ_ONLY' && !free.includes(id));
    expect(open).toEqual([]);
    expect(codes.get('sandbox:advance')).toBe('READ_ONLY');
  });

  it('is recorded in the log', async () => {
    await refused(['envelopes', 'cancel', 'env_ada']);
    expect(await lastEntry()).toMatchObject({
      command: 'envelopes cancel',
      effect: 'mails',
      envelopeIds: ['env_ada'],
      outcome: 'refused',
      error: 'READ_ONLY',
    });
  });

  it('does not refuse a dry run or a read', async () => {
    expect(await home.run`envelopes send env_ada --dry-run`).toMatchObject({ code: 0 });
    expect(await home.run`envelopes get env_ada`).toMatchObject({ code: 0 });
    expect(writes()).toEqual([]);
  });
});

describe('allowed recipients', () => {
  const create = (...emails: string[]) => [
    'envelopes',
    'create',
    '--template',
    'tmpl_1',
    ...emails.flatMap((one) => ['--signer', one]),
  ];
  const allowed = async (words: readonly string[]) => {
    expect(await home.run([...words, '--no-input'])).toMatchObject({ code: 0 });
    expect(writes().length).toBeGreaterThan(0);
  };
  const restrict = () => guard('--only-to', '*@Example.com, ann@x.org');
  beforeAll(restrict);

  it('match addresses in any case, and no similar domains or subdomains', async () => {
    await allowed(create('ADA@EXAMPLE.COM', 'Ann@X.org'));
    for (const email of ['a@sub.example.com', 'ann+1@x.org', 'a@exаmple.com', 'a@badexample.com'])
      expect(await refused(create(email)), email).toBe('RECIPIENT_NOT_ALLOWED');
  });

  it('apply to existing drafts, and to all IDs of a command', async () => {
    await allowed(['envelopes', 'send', 'env_both']);
    expect(await refused(['envelopes', 'send', 'env_ada', 'env_bo', '--yes'])).toBe('RECIPIENT_NOT_ALLOWED');
    expect((await lastEntry()).envelopeIds).toEqual(['env_ada', 'env_bo']);
  });

  it('apply to every row of a file, before a run begins', async () => {
    expect(await refused(['bulk', 'create', 'given/rows.csv', '--template', 'tmpl_1'])).toBe(
      'RECIPIENT_NOT_ALLOWED',
    );
    expect(await home.json`bulk list`).toEqual([]);
  });

  it.each([
    ['another recipient', { templateId: 't', signers: [{ email: 'bo@other.org', name: 'Bo' }] }],
    ['an undocumented field', { templateId: 't', signers: [], cc: ['bo@other.org'] }],
    ['signers in another case', { templateId: 't', signers: [], Signers: [{ email: 'bo@other.org' }] }],
    ['two addresses in one', { signers: [{ email: 'ada@example.com, bo@other.org', name: 'A' }] }],
    ['no signers', { templateId: 't' }],
  ])('refuses a body with %s', async (_what, body) => {
    await writeFile(home.path('strange'), JSON.stringify(body));
    expect(await refused(['api', 'POST', '/esign/envelopes', '--body', 'strange'])).toBe(
      'RECIPIENT_NOT_ALLOWED',
    );
  });

  it('refuses a repeated member, and paths that are not documented', async () => {
    await writeFile(
      home.path('twice'),
      '{"signers":[{"email":"bo@other.org","name":"B"}],"signers":[{"email":"ada@example.com","name":"A"}]}',
    );
    expect(await refused(['api', 'POST', '/esign/envelopes', '--body', 'twice'])).toBe(
      'RECIPIENT_NOT_ALLOWED',
    );
    for (const path of [
      '/esign/envelopes/',
      '/esign/envelopes/env_bo%2Fsend',
      '/esign/envelopes/env_bo/share',
      '/esign/envelopes/env_bo/send',
    ])
      expect(await refused(['api', 'POST', path]), path).toBe('RECIPIENT_NOT_ALLOWED');
    await allowed(['api', 'POST', '/esign/envelopes', '--body', 'body']);
    await allowed(['api', 'POST', '/esign/envelopes/env_bo/cancel']);
  });

  it.each([
    ['a repeated member', '{"signerId":"sig_bo","signerId":"sig_ada"}'],
    ['a member repeated with an escape', String.raw`{"signerId":"sig_bo","signer\u0049d":"sig_ada"}`],
    ['a repeated reason', '{"reason":"a","reason":"b"}'],
    ['a list as the signer', '{"signerId":["sig_bo"]}'],
    ['a list', '[{"signerId":"sig_bo"}]'],
    ['a text', '"sig_bo"'],
  ])('refuses an action with %s', async (_what, body) => {
    await writeFile(home.path('action'), body);
    for (const action of ['remind', 'send', 'cancel']) {
      const words = ['api', 'POST', `/esign/envelopes/env_both/${action}`, '--body', 'action'];
      expect(await refused(words), action).toBe('RECIPIENT_NOT_ALLOWED');
    }
  });

  it('are addresses or patterns for a domain', async () => {
    for (const pattern of ['', '*', '*@*', 'ann*@x.org', 'x.org', '*@*.example.com'])
      expect(await home.run(['profiles', 'edit', 'acme', '--only-to', pattern]), pattern).toMatchObject({
        code: 2,
      });
  });
});

describe('a limit of emails', () => {
  beforeAll(() => guard('--max-emails', '1'));

  it('counts every signer of every envelope of a command', async () => {
    const create = [
      'envelopes',
      'create',
      '--template',
      'tmpl_1',
      '--signer',
      'a@b.cd',
      '--signer',
      'c@d.ef',
    ];
    expect(await refused([...create, '--send'])).toBe('TOO_MANY_EMAILS');
    expect(await refused(['envelopes', 'send', 'env_ada', 'env_bo', '--yes'])).toBe('TOO_MANY_EMAILS');
    expect(
      await refused(['bulk', 'create', 'given/rows.csv', '--template', 'tmpl_1', '--send', '--yes']),
    ).toBe('TOO_MANY_EMAILS');
    expect(await home.run([...create, '--no-input'])).toMatchObject({ code: 0 });
    expect(await home.run`envelopes send env_ada`).toMatchObject({ code: 0 });
    expect(writes()).toEqual(['POST /api/v1/esign/envelopes', 'POST /api/v1/esign/envelopes/env_ada/send']);
  });
});

describe('a confirmation by name', () => {
  beforeAll(() => guard('--confirm-name'));
  const several = ['envelopes', 'send', 'env_ada', 'env_bo', '--yes'];

  it('is required before more than one person is emailed', async () => {
    expect(await refused(several)).toBe('CONFIRMATION_REQUIRED');
    expect(await refused([...several, '--confirm', 'other'])).toBe('CONFIRMATION_REQUIRED');
    expect(await home.run([...several, '--confirm', 'acme'])).toMatchObject({ code: 0 });
    expect(writes()).toHaveLength(2);
    expect(await home.run`envelopes send env_ada`).toMatchObject({ code: 0 });
  });

  it('is not required for the first row of a list', async () => {
    const create = ['bulk', 'create', 'given/rows.csv', '--template', 'tmpl_1', '--send', '--yes'];
    expect(await refused(create)).toBe('CONFIRMATION_REQUIRED');
    expect((await home.run([...create, '--first', '1', '--dry-run'])).stderr).not.toContain('--confirm');
    expect((await home.run([...create, '--dry-run'])).stderr).toContain('--confirm');
  });

  it('is also required for a create with --yes', async () => {
    const both = ['--signer', 'Ada <ada@example.com>', '--signer', 'Bo <bo@example.com>'];
    const create = ['envelopes', 'create', '--template', 'tmpl_1', ...both, '--send', '--yes'];
    expect(await refused(create)).toBe('CONFIRMATION_REQUIRED');
    expect(await home.run([...create, '--confirm', 'acme'])).toMatchObject({ code: 0 });
  });

  it('replaces --yes', async () => {
    const named = ['envelopes', 'send', 'env_ada', 'env_bo', '--confirm'];
    expect(await refused([...named, 'other'])).toBe('CONFIRMATION_REQUIRED');
    expect(await home.run([...named, 'acme'])).toMatchObject({ code: 0 });
    writes();
    onTestFinished(() => guard('--confirm-name'));
    await guard('--no-confirm-name');
    expect(await refused([...named, 'acme'])).toBe('USAGE');
  });
});

describe('a dry run', () => {
  const toBoth = [
    '--template',
    'tmpl_1',
    '--signer',
    'ada@example.com',
    '--signer',
    'bo@other.org',
    '--send',
  ];
  const create = ['envelopes', 'create', ...toBoth];
  const send = ['envelopes', 'send', 'env_bo', 'env_both'];
  const bulk = ['bulk', 'create', 'given/rows.csv', '--template', 'tmpl_1', '--send'];
  const post = ['api', 'POST', '/esign/envelopes/env_both/send'];
  const emailing = [create, send, bulk, post];
  const dry = (words: readonly string[]) => home.run([...words, '--dry-run']);
  const codeIn = (text: string) => /\(([A-Z_]+)\)/.exec(text)?.[1];

  it.each([
    [['--read-only'], 'READ_ONLY', [create, ['envelopes', 'remind', 'env_sent'], ['api', 'DELETE', '/x']]],
    [['--only-to', 'ada@example.com'], 'RECIPIENT_NOT_ALLOWED', emailing],
    [['--max-emails', '1'], 'TOO_MANY_EMAILS', emailing],
    [['--confirm-name'], 'CONFIRMATION_REQUIRED', emailing],
  ])('with %j succeeds, and names the guard that would refuse: %s', async (guards, code, all) => {
    await guard(...guards);
    const log = await home.json`log`;
    for (const words of all) {
      const finished = await dry(words);
      expect([words.join(' '), finished.code, codeIn(finished.stderr)]).toEqual([words.join(' '), 0, code]);
    }
    expect(writes()).toEqual([]);
    expect(await home.json`log`).toEqual(log);
  });

  it.each([
    [['--confirm-name'], [...send, '--confirm', 'acme']],
    [['--only-to', '*@example.com, bo@other.org', '--max-emails', '3'], send],
    [
      ['--only-to', 'ann@x.org', '--confirm-name'],
      ['api', 'POST', '/esign/envelopes/env_both/cancel'],
    ],
    [
      ['--max-emails', '0'],
      ['envelopes', 'cancel', 'env_bo'],
    ],
    [['--read-only'], ['api', '/esign/envelopes/env_bo']],
  ])('with %j of %j reports no refusal', async (guards, words) => {
    await guard(...guards);
    expect(await dry(words)).toMatchObject({ code: 0, stderr: '' });
  });
});

/** Runs a command with a policy at its real path, in a separate file system. */
function withPolicy(policy: unknown, { mode = '644' } = {}): readonly string[] {
  const script =
    'mount -t tmpfs none /etc && mkdir /etc/esign && printf %s "$1" > /etc/esign/policy.json && chmod "$2" /etc/esign/policy.json; shift 2; exec "$@"';
  const text = typeof policy === 'string' ? policy : JSON.stringify(policy);
  return ['unshare', '-Urm', 'bash', '-c', script, 'bash', text, mode];
}

describe.skipIf(!canMount)('the policy of the machine', () => {
  const send = ['envelopes', 'send', 'env_ada', '--json', '--no-input'];
  const codeUnder = async (under: readonly string[], words = send, env: Record<string, string> = {}) => {
    const finished = await home.run(words, { under, env });
    return finished.code === 0 ? 'sent' : reportedError(finished).code;
  };
  beforeAll(() => guard('--max-emails', '5'));

  it('applies with any profile, without a profile, and with any environment variables', async () => {
    const readOnly = withPolicy({ readOnly: true });
    expect(await codeUnder(readOnly)).toBe('READ_ONLY');
    expect(await codeUnder(readOnly, send, { ...service.env, ESIGN_CONFIG_DIR: home.path('none') })).toBe(
      'READ_ONLY',
    );
    expect(await codeUnder(withPolicy({ maxEmails: 0 }))).toBe('TOO_MANY_EMAILS');
    const both = ['envelopes', 'send', 'env_both', '--json'];
    const named = withPolicy({ confirmName: true });
    expect(await codeUnder(named, both, service.env)).toBe('CONFIRMATION_REQUIRED');
    expect(await codeUnder(named, [...both, '--confirm', '127.0.0.1'], service.env)).toBe('sent');
    expect(writes()).toHaveLength(1);
  });

  it('refuses writes and allows reads when it is writable by others', async () => {
    const under = withPolicy({}, { mode: '666' });
    expect(await codeUnder(under)).toBe('POLICY_UNUSABLE');
    expect(writes()).toEqual([]);
    expect(await home.run(['envelopes', 'get', 'env_ada'], { under })).toMatchObject({ code: 0 });
    const doctor = await home.run(['doctor', '--json'], { under });
    expect(doctor.code).toBe(2);
    expect(memberOf(doctor.stdout, 'checks')).toContainEqual(
      expect.objectContaining({ name: 'guards', status: 'failed' }),
    );
  });

  it('is shown with its sources, the strictest value first', async () => {
    const under = withPolicy({ maxEmails: 3, onlyTo: ['*@example.com'] });
    const { stdout } = await home.run(['profiles', 'show', '--json'], { under });
    expect(memberOf(stdout, 'guards')).toEqual({
      readOnly: null,
      onlyTo: { value: ['*@example.com'], source: 'policy' },
      maxEmails: { value: 3, source: 'policy' },
      confirmName: null,
      policy: { path: '/etc/esign/policy.json', problem: null },
    });
  });

  // The contract check gives a sandbox another address, so its profile is not that of a running sandbox.
  const skip = process.env.ESIGN_RELAY !== undefined;
  it('exempts the profile of a sandbox that is running', { skip }, async () => {
    const own = new Home();
    await own.sandbox();
    const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'a@b.cd', '--json'];
    const under = withPolicy({ readOnly: true });
    expect(await own.run(words, { under })).toMatchObject({ code: 0 });
    await own.run([
      'profiles',
      'edit',
      'sandbox',
      '--base-url',
      String(service.env.ESIGN_BASE_URL),
      '--no-verify',
    ]);
    expect(reportedError(await own.run(words, { under })).code).toBe('READ_ONLY');
  });
});

it('shows the guards of a profile in profiles show and doctor', async () => {
  await guard('--only-to', 'ann@x.org');
  expect((await home.object`profiles show`).guards).toMatchObject({
    onlyTo: { value: ['ann@x.org'], source: 'profile' },
    policy: null,
  });
  const { stdout } = await home.run`doctor --json`;
  const check: unknown = expect.objectContaining({ name: 'guards', status: 'ok' });
  expect(memberOf(stdout, 'checks')).toContainEqual(check);
});

it.each([
  ['yes', 2, 0],
  ['acme', 0, 2],
])('asks on a terminal for the name that --confirm-name requires: %s', async (typed, exitCode, sent) => {
  await guard('--confirm-name');
  const words = ['envelopes', 'send', 'env_ada', 'env_bo', '--yes'];
  const screen = openCommand(home, words);
  await screen.shows('Type acme');
  screen.type(`${typed}\r`);
  expect([(await screen.ended).code, writes().length]).toEqual([exitCode, sent]);
});
