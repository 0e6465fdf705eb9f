import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { COMMAND, Home } from '../support/cli.ts';
import { answerPage, fakeService } from '../support/fake-service.ts';
import { openCommand, openScreen, type Screen } from '../support/pty.ts';
import { json } from '../support/server.ts';

/* What a person is asked on a terminal: to compose an envelope, before several are changed, and for a key. */
const home = new Home();
const DOWN = '\u001b[B';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const KEY = 'sk_canary_0123456789abcdef';

beforeAll(async () => {
  await home.sandbox();
  await home.json([
    ...['envelopes', 'create', '--template', 'tmpl_lease', '--subject', 'earlier'],
    ...['--signer', 'Tara Tenant <tara@example.com>;role=Tenant'],
    ...['--signer', 'Lars Landlord <lars@example.com>;role=Landlord'],
  ]);
});

function open(args: readonly string[], env: Record<string, string> = {}): Screen {
  return openCommand(home, args, { env, columns: 100 });
}
/** Runs a shell command line with `esign` on the PATH, on a terminal. */
function shell(line: string, env: Record<string, string> = {}): Screen {
  const program = COMMAND.map((word) => `'${word}'`).join(' ');
  const script = `esign() { ${program} "$@"; }; ${line}; echo "exit $?"`;
  return openScreen('/bin/sh', ['-c', script], { env: { ...home.env, ...env }, columns: 120 });
}
const answer = async (screen: Screen, question: string, keys: string) => {
  await screen.shows(question);
  screen.type(keys);
};
const chooseLease = async (screen: Screen) => {
  await answer(screen, '? Template:', 'lease');
  await answer(screen, '❯ Residential lease', '\r');
};
/** The existing envelopes, except the example. */
async function envelopes(): Promise<Record<string, unknown>[]> {
  const list = await home.json`envelopes list --all`;
  return (isList(list) ? list.filter(isRecord) : []).filter((one) => one.subject !== 'earlier');
}
const withSubject = async (subject: string) => (await envelopes()).find((one) => one.subject === subject);
const sent = async (subject: string, ...extra: string[]) => {
  const flags = ['--subject', subject, '--signer', 'Ada Lovelace <ada@example.com>', ...extra];
  return String((await home.object`envelopes create --template tmpl_nda ${flags} --send`).id);
};
const statusOf = async (id: string) => (await home.object`envelopes get ${id}`).status;

describe('envelopes create on a terminal', () => {
  it('asks for template, signers by role, who signs first, and subject, shows everything, and keeps a draft', async () => {
    const screen = open(['envelopes', 'create']);
    await chooseLease(screen);
    // The last signer in the role is suggested. Enter alone doesn't choose it.
    await answer(screen, '? Landlord (= for Lars Landlord <lars@example.com>):', '\r');
    await screen.shows('Type an address');
    await answer(screen, '? Landlord', '=\r');
    await answer(screen, '? Tenant (= for Tara', 'Zoe <zoe@example.com>\r');
    await answer(screen, '? Who signs first?', `${DOWN}${DOWN}\r`);
    await answer(screen, '? Email subject', "Lars' flat\r");
    await screen.shows('? What next?');
    expect(screen.text()).toContain('Residential lease (tmpl_lease), 4 pages');
    screen.type('\r');
    expect(await screen.ended).toEqual({ code: 0, signal: undefined });
    await screen.shows('DRAFT, for 2 signers');
    expect(await withSubject("Lars' flat")).toMatchObject({
      status: 'DRAFT',
      signingOrder: 'SEQUENTIAL',
      signers: [
        { email: 'lars@example.com', role: 'Landlord', order: 2 },
        { email: 'zoe@example.com', role: 'Tenant', order: 1 },
      ],
    });
  });

  it('asks only for what the flags leave out, and sends if that is chosen', async () => {
    const screen = open(['envelopes', 'create', '--template', 'tmpl_nda', '--subject', 'asked']);
    await answer(screen, '? Signer', 'nobody\r');
    await answer(screen, 'Type an address', '\u0015Zoe <zoe@example.com>\r');
    await answer(screen, '? What next?', `${DOWN}\r`);
    expect((await screen.ended).code).toBe(0);
    expect(await withSubject('asked')).toMatchObject({ status: 'SENT', signers: [{ name: 'Zoe' }] });
  });

  it('exits with 2 and creates nothing if the user quits at the summary', async () => {
    const before = (await envelopes()).length;
    const screen = open(['envelopes', 'create', '--template', 'tmpl_nda', '--subject', 'x']);
    await answer(screen, '? Signer', 'Zoe <zoe@example.com>\r');
    await answer(screen, '? What next?', `${DOWN}${DOWN}\r`);
    expect((await screen.ended).code).toBe(2);
    expect(await envelopes()).toHaveLength(before);
  });

  it('names the sandbox command that signs what was sent', async () => {
    const screen = open([
      'envelopes',
      'create',
      '--template',
      'tmpl_nda',
      '--signer',
      'a@example.com',
      '--send',
    ]);
    expect((await screen.ended).code).toBe(0);
    expect(screen.text()).toMatch(/Sign it: {2}esign sandbox sign env_\w+\n/);
  });

  const PROMPTS = [
    '? Template:',
    '? Landlord',
    '? Tenant',
    '? Who signs first?',
    '? Email subject',
    '? What next?',
  ];
  for (const [index, last] of PROMPTS.entries())
    it(`leaves nothing behind on Ctrl-C or Ctrl-D at ${last}`, {
      tags: [1, PROMPTS.length - 1].includes(index) ? [] : ['full'],
    }, async () => {
      const before = (await envelopes()).length;
      const screen = open(['envelopes', 'create']);
      for (const question of PROMPTS.slice(0, index))
        if (question === '? Template:') await chooseLease(screen);
        else await answer(screen, question, /Landlord|Tenant/.test(question) ? '=\r' : '\r');
      await answer(screen, last, index % 2 === 0 ? CTRL_C : CTRL_D);
      expect(await screen.ended).toMatchObject({ signal: 2 });
      expect(await envelopes()).toHaveLength(before);
    });

  it('prints only the ID to a pipe, and asks on stderr', async () => {
    const screen = shell(
      'ID=$(esign envelopes create -q --template tmpl_nda --subject piped); echo "made <$ID>"',
    );
    await answer(screen, '? Signer', 'Zoe <zoe@example.com>\r');
    await answer(screen, '? What next?', '\r');
    await screen.shows('exit 0');
    await screen.shows(`made <${String((await withSubject('piped'))?.id)}>`);
  });

  it.each([['--no-input'], ['--json']])('asks nothing with %s', async (flag) => {
    const screen = open(['envelopes', 'create', flag]);
    expect((await screen.ended).code).toBe(2);
    await screen.shows('--template flag is missing');
  });

  it('asks before a role stays without a signer; no is the default', async () => {
    const before = (await envelopes()).length;
    const tenant = ['--signer', 'Ada <ada@example.com>;role=Tenant', '--send'];
    const screen = open(['envelopes', 'create', '--template', 'tmpl_lease', ...tenant]);
    await answer(screen, 'Create it and email 1 person anyway (sandbox, no real emails)?', '\r');
    expect(screen.text()).toContain('No signer has the role Landlord.');
    expect((await screen.ended).code).toBe(2);
    expect(await envelopes()).toHaveLength(before);
  });

  it('escapes control sequences in names of the service, and sends the names unchanged', async () => {
    const posted: unknown[] = [];
    const name = 'Lease\u001b[2J\u202e';
    const template = (index: number) => ({ id: `tmpl_${index}`, name, roles: [{ name: 'Buyer\u001b[31m' }] });
    const signers = [{ email: 'eve@example.com', name: 'Eve\u001b[2J', role: 'Buyer\u001b[31m' }];
    const { env } = await fakeService((request, response) => {
      if (request.method === 'POST') {
        posted.push(parseJson(request.body));
        return json(response, 201, { data: { id: 'env_new', status: 'DRAFT' } });
      }
      if (request.path.endsWith('/templates')) return answerPage(request, response, 3, template);
      if (request.path.endsWith('/envelopes'))
        return answerPage(request, response, 3, (index) => ({ id: `env_${index}` }));
      return json(response, 200, { data: { id: 'env_1', signers } });
    });
    const screen = open(['envelopes', 'create'], env);
    await answer(screen, '? Template:', '\r');
    await answer(screen, '? Buyer␛[31m (= for Eve␛[2J', '=\r');
    await answer(screen, '? Email subject', '\r');
    await answer(screen, '? What next?', '\r');
    expect((await screen.ended).code).toBe(0);
    expect(screen.raw()).not.toMatch(/\u001b\[2J|\u202e/);
    expect(posted).toMatchObject([{ templateId: 'tmpl_0', signers }]);
  });
});

describe('a question about envelopes', () => {
  it('lists several with subject and pending signers, and leaves out those that are not possible', async () => {
    const ids = [await sent('Flat 1'), await sent('Flat 2'), await sent('Flat 3')];
    await home.run`envelopes cancel ${ids[2] ?? ''}`;
    const screen = open(['envelopes', 'cancel', ...ids, 'env_none']);
    await screen.shows('Cancel 2 envelopes for 1 person (sandbox, no real emails)?');
    const text = screen.text();
    expect(text).toContain(`Ada Lovelace  Flat 1   ${ids[0]}`);
    expect(text).toContain(`Left out ${ids[2]}: ${ids[2]} is CANCELLED and can't be canceled.`);
    expect(text).toContain('Left out env_none: ');
    screen.type('y\r');
    expect((await screen.ended).code).toBe(10);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
  });

  it('is not asked if none is possible (10), or if a reminder is too soon for each of them (0)', async () => {
    const ids = [await sent('One'), await sent('Two')];
    await home.run`envelopes remind ${ids} --yes`;
    const soon = open(['envelopes', 'remind', ...ids, '--min-gap', '1h']);
    expect((await soon.ended).code).toBe(0);
    await home.run`envelopes cancel ${ids} --yes`;
    const none = open(['envelopes', 'remind', ...ids]);
    expect((await none.ended).code).toBe(10);
    expect(none.text()).toContain('2 of 2 failed.');
  });

  it.each([
    ['no', 'n\r', 'exit 2'],
    ['Enter', '\r', 'exit 2'],
    ['Ctrl-C', CTRL_C, 'exit 130'],
    ['yes', 'y\r', 'exit 0'],
  ])('is answered on the terminal if the IDs come from a pipe: %s', async (_, keys, end) => {
    const ids = [await sent('Flat 1'), await sent('Flat 2')];
    const screen = shell(`printf '%s\\n' ${ids.join(' ')} | esign envelopes cancel -`);
    await answer(screen, 'Cancel 2 envelopes for 1 person', keys);
    await screen.shows(end);
    const status = end === 'exit 0' ? 'CANCELLED' : 'SENT';
    expect(await Promise.all(ids.map(statusOf))).toEqual([status, status]);
  });

  it.each([
    ['--no-input', 'esign envelopes cancel - --no-input', {}],
    ['CI', 'esign envelopes cancel -', { CI: 'true' }],
    ['no controlling terminal', 'PROGRAM envelopes cancel -', {}],
  ])('is not asked with %s', async (_, line, env) => {
    const ids = [await sent('Flat 1'), await sent('Flat 2')];
    // setsid leaves stderr on the terminal, which no longer controls the process.
    const program = ['setsid', '--wait', ...COMMAND].map((word) => `'${word}'`).join(' ');
    const screen = shell(`printf '%s\\n' ${ids.join(' ')} | ${line.replace('PROGRAM', program)}`, env);
    await screen.shows('exit 2');
    expect(screen.text()).toContain('--yes');
    expect(await statusOf(ids[0] ?? '')).toBe('SENT');
  });

  it('is asked for a single one if somebody has signed, or was reminded within the hour', async () => {
    const signed = await sent('Signed', '--signer', 'Bo <bo@example.com>');
    await home.run`sandbox sign ${signed} --signer ada@example.com`;
    const reminded = await sent('Reminded');
    await home.run`envelopes remind ${reminded}`;
    for (const [verb, id, question, why] of [
      ['cancel', signed, ', for Ada Lovelace and ', 'Ada Lovelace has already signed'],
      ['remind', reminded, 'Remind Ada Lovelace about “', 'was reminded'],
    ] as const) {
      const no = open(['envelopes', verb, id]);
      await answer(no, question, '\r');
      expect(no.text()).toContain(why);
      expect((await no.ended).code).toBe(2);
    }
    expect(await statusOf(signed)).toBe('IN_PROGRESS');
    const yes = open(['envelopes', 'cancel', signed]);
    await answer(yes, 'Cancel “', 'y\r');
    expect([(await yes.ended).code, await statusOf(signed)]).toEqual([0, 'CANCELLED']);
  });

  it('is asked only once where the profile requires its name', async () => {
    const ids = [await sent('One'), await sent('Two', '--signer', 'Bo <bo@example.com>')];
    await home.run`profiles edit sandbox --confirm-name`;
    const screen = open(['envelopes', 'remind', ...ids]);
    await answer(screen, 'Type sandbox to confirm:', 'sandbox\r');
    expect((await screen.ended).code).toBe(0);
    expect(screen.text()).toContain('Remind 2 people about 2 envelopes (sandbox, no real emails)?');
    expect(screen.text()).not.toContain('y/N');
    await home.run`profiles edit sandbox --no-confirm-name`;
  });
});

describe('a hidden prompt', () => {
  const add = (name: string) => [
    'profiles',
    'add',
    name,
    '--base-url',
    'https://api.example.com/api/v1',
    '--no-verify',
  ];
  const store = () => readFile(home.path('config', 'profiles.json'), 'utf8');

  it('reads a key without echo, also a pasted one', async () => {
    for (const [name, typed] of [
      ['acme', `${KEY}\r`],
      ['pasted', `${KEY}\n`],
    ] as const) {
      const screen = open(add(name));
      await answer(screen, 'API key:', typed);
      expect(await screen.ended).toEqual({ code: 0, signal: undefined });
      await screen.shows('sk_canar…');
      expect(screen.text()).not.toContain('0123456789abcdef');
    }
    const stored = { apiKey: KEY };
    expect(parseJson(await store())).toMatchObject({ profiles: { acme: stored, pasted: stored } });
  });

  it('is asked for after the name and the URL, and the end shows which profile is current and what to do', async () => {
    const screen = open(['profiles', 'add', '--no-verify']);
    await answer(screen, '? Name for this account', 'sandbox\r');
    await answer(screen, 'already exists', '\u0015asked\r');
    await answer(screen, '? Base URL', 'api.example.com\r');
    await answer(screen, 'is not a URL', '\u0015https://api.example.com/api/v1\r');
    await answer(screen, '? API key:', `${KEY}\r`);
    expect(await screen.ended).toEqual({ code: 0, signal: undefined });
    expect(screen.text()).toContain('✓ Added asked');
    expect(screen.text()).toContain('The current profile is still');
    expect(screen.text()).toContain('esign templates list --profile asked');
    expect(screen.text()).not.toContain(KEY);
  });

  it('replaces the key of a profile', async () => {
    await home.run([...add('edited'), '--api-key-file', '-'], { input: KEY });
    const screen = open(['profiles', 'edit', 'edited', '--no-verify', '--api-key-file', '-']);
    await answer(screen, '? API key:', `${KEY}9\r`);
    expect(await screen.ended).toEqual({ code: 0, signal: undefined });
    expect(screen.text()).not.toContain(KEY);
    expect(await store()).toContain(`${KEY}9`);
  });

  it.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', `${'\b'.repeat(7)}${CTRL_D}`],
  ])('stores nothing after %s', async (_, keys) => {
    const screen = open(add('left'));
    await answer(screen, 'API key:', `sk_half${keys}`);
    expect(await screen.ended).toMatchObject({ signal: 2 });
    expect(await store()).not.toContain('left');
  });
});

describe('ESIGN_ACCESSIBLE', () => {
  it('numbers choices, redraws nothing, and prints tables as lines', async () => {
    const env = { ESIGN_ACCESSIBLE: '1', NO_COLOR: '1' };
    const id = await sent('plain');
    const screen = open(['envelopes', 'replace', id], env);
    await answer(screen, '2. The subject', '9\r');
    await answer(screen, 'Type a number from 1 to 3.', '2\r');
    await answer(screen, 'Subject:', 'plain words\r');
    await answer(screen, '(y/N)', 'n\r');
    expect((await screen.ended).code).toBe(2);
    expect(screen.raw()).not.toContain('\u001b');
    const list = open(['envelopes', 'list', '-L', '2'], env);
    await list.ended;
    expect(list.text()).toMatch(/^Id: env_\w+\nStatus: \w+\n/);
  });
});

describe('envelopes replace on a terminal', () => {
  it('asks what to correct, and does it', async () => {
    const id = await sent('wrong');
    const screen = open(['envelopes', 'replace', id]);
    await answer(screen, '❯ Ada Lovelace <ada@example.com>', '\r');
    await answer(screen, '? Who signs instead?', 'nobody\r');
    await answer(screen, 'has no email address', '\u0015Ada Lovelace <ada.l@example.com>\r');
    await answer(screen, 'and email 1 person', 'y');
    screen.type('\r');
    expect((await screen.ended).code).toBe(0);
    expect(await statusOf(id)).toBe('CANCELLED');
    const made = (await envelopes()).find((one) => one.subject === 'wrong' && one.status === 'SENT');
    expect(made).toMatchObject({ signers: [{ email: 'ada.l@example.com' }] });
  });
});

describe('a choice', () => {
  it('starts with the current item, and needs no confirmation', async () => {
    await home.run(
      argv`profiles add second --base-url https://api.example.com/api/v1 --api-key-file - --no-verify`,
      {
        input: KEY,
      },
    );
    await home.run`profiles use sandbox`;
    const screen = open(['profiles', 'use']);
    await screen.shows('❯ sandbox');
    screen.type(CTRL_C);
    expect(await screen.ended).toMatchObject({ signal: 2 });
    const removing = open(['profiles', 'remove', 'second']);
    await answer(removing, 'Remove second and its key?', '\r');
    expect((await removing.ended).code).toBe(2);
  });
});
