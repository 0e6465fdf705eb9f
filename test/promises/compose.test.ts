import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { COMMAND, Home } from '../support/cli.ts';
import { answerPage, fakeService } from '../support/fake-service.ts';
import { openScreen, type Screen } from '../support/pty.ts';
import { json } from '../support/server.ts';

const home = new Home();
const DOWN = '\u001b[B';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

beforeAll(async () => {
  await home.sandbox();
  await home.json([
    ...['envelopes', 'create', '--template', 'tmpl_lease', '--subject', 'earlier'],
    ...['--signer', 'Tara Tenant <tara@example.com>;role=Tenant'],
    ...['--signer', 'Lars Landlord <lars@example.com>;role=Landlord'],
  ]);
  const nda = ['envelopes', 'create', '--template', 'tmpl_nda', '--subject', 'earlier'];
  await home.json`${nda} --signer 'Tara Tenant <tara@example.com>'`;
});
afterAll(() => home.close());

function open(args: string[], env: Record<string, string>): Screen {
  const [file, ...before] = COMMAND;
  return openScreen(file, [...before, ...args], { env });
}

const create = (args: string[] = []) => open(['envelopes', 'create', ...args], home.env);

/** The subjects and statuses of the existing envelopes, except the example. */
async function envelopes(): Promise<Record<string, unknown>[]> {
  const list = await home.json`envelopes list --all`;
  const records = Array.isArray(list) ? list.filter(isRecord) : [];
  return records.filter((one) => one.subject !== 'earlier');
}

const paste = (text: string) => `\u001b[200~${text}\u001b[201~`;

const answer = async (screen: Screen, question: string, keys: string) => {
  await screen.shows(question);
  screen.type(keys);
};

/** Template, two known signers, all at the same time. */
async function upToTheSubject(screen: Screen): Promise<void> {
  await answer(screen, '? Template:', 'lease\r');
  await answer(screen, '? Landlord:', 'lars\r');
  await answer(screen, '? Tenant:', 'tara\r');
  await answer(screen, '? Signing order:', '\r');
}

describe('envelopes create on a terminal', () => {
  it('prompts for template, signers by role, order, and emails, shows everything, and keeps a draft', async () => {
    const before = (await envelopes()).length;
    const screen = create();
    await upToTheSubject(screen);
    await answer(screen, '? Email subject', "Lars' flat\r");
    await answer(screen, '? Message', '\r');
    await screen.shows('? What next?');
    expect(screen.text()).toContain('Residential lease (tmpl_lease), 4 pages');
    expect(screen.text()).toContain("--signer 'Tara Tenant <tara@example.com>;role=Tenant'");
    expect(screen.text()).toContain(`--subject 'Lars'\\'' flat'`);
    screen.type('\r');
    expect(await screen.ended).toEqual({ code: 0, signal: undefined });
    await screen.shows('DRAFT, for 2 signers');
    const after = await envelopes();
    expect(after).toHaveLength(before + 1);
    const made = after.find(({ subject }) => subject === "Lars' flat");
    expect(made).toMatchObject({ status: 'DRAFT', signingOrder: 'PARALLEL' });
  });

  const PROMPTS = [
    '? Template:',
    '? Landlord:',
    '? Tenant:',
    '? Signing order:',
    '? Email subject',
    '? Message',
    '? What next?',
  ];
  for (const [index, last] of PROMPTS.entries())
    it(`leaves nothing behind on Ctrl-C or Ctrl-D at ${last}`, {
      tags: [0, 3, PROMPTS.length - 1].includes(index) ? [] : ['full'],
    }, async () => {
      const before = (await envelopes()).length;
      const screen = create();
      for (const question of PROMPTS.slice(0, index))
        await answer(screen, question, question.includes('Template') ? 'lease\r' : '\r');
      await answer(screen, last, index % 2 === 0 ? CTRL_C : CTRL_D);
      expect(await screen.ended).toMatchObject({ signal: 2 });
      expect(await envelopes()).toHaveLength(before);
    });

  it('prompts for a name once per address', { tags: ['full'] }, async () => {
    const screen = create();
    await answer(screen, '? Template:', 'lease\r');
    await answer(screen, '? Landlord:', 'max@example.com\r');
    await answer(screen, '? Name for max@example.com:', 'Max Mustermann\r');
    await answer(screen, '? Tenant:', 'MAX@example.com\r');
    await screen.shows('? Signing order:');
    expect(screen.text()).toContain('✔ Tenant: Max Mustermann <MAX@example.com>');
    screen.type(CTRL_C);
    await screen.ended;
  });

  it('exits with 2 and creates nothing when it is discarded', async () => {
    const before = (await envelopes()).length;
    const screen = create(['--template', 'tmpl_nda', '--subject', 'x', '--message', 'y']);
    await answer(screen, '? Signer:', 'Zoe <zoe@example.com>\r');
    await answer(screen, '? What next?', `${DOWN}${DOWN}${DOWN}\r`);
    expect((await screen.ended).code).toBe(2);
    await screen.shows('Not confirmed; nothing was created.');
    expect(await envelopes()).toHaveLength(before);
  });

  it('keeps the line breaks of a pasted message, and treats none of them as an answer', {
    tags: ['full'],
  }, async () => {
    const asked = create(['--template', 'tmpl_nda', '--subject', 'pasted']);
    await answer(asked, '? Signer:', paste('  Zoe\t<zoe@example.com>\n'));
    await answer(asked, '❯ Zoe <zoe@example.com>', '\r');
    await answer(asked, '? Message', paste('Dear Zoe,\r\u001b[31mplease\rsign.\r'));
    await answer(asked, 'Dear Zoe,⏎[31mplease⏎sign.', '\r');
    await answer(asked, '? What next?', '\r');
    expect((await asked.ended).code).toBe(0);
    const made = (await envelopes()).find((one) => one.subject === 'pasted');
    expect(made?.message).toBe('Dear Zoe,\n[31mplease\nsign.');
  });

  it("doesn't treat typeahead as the answer to the last prompt", { tags: ['full'] }, async () => {
    const screen = create(['--template', 'tmpl_nda', '--message', 'm']);
    await answer(screen, '? Signer:', 'tara\r');
    await answer(screen, '? Email subject', 's\r\r\r\r');
    await screen.shows('? What next?');
    await sleep(300);
    expect(screen.text()).toContain('❯ Save as draft');
    screen.type(CTRL_C);
    await screen.ended;
  });

  it('changes any part from the last prompt', { tags: ['full'] }, async () => {
    const screen = create();
    await upToTheSubject(screen);
    await answer(screen, '? Email subject', 'changed\r');
    await answer(screen, '? Message', '\r');
    await answer(screen, '? What next?', `${DOWN}${DOWN}\r`);
    await answer(screen, '? Change what?', `${DOWN}\r`);
    await answer(screen, '? Landlord:', 'Zoe <zoe@example.com>\r');
    await answer(screen, '? Tenant:', '\r');
    await answer(screen, '? Another signer:', '\r');
    await screen.shows("--signer 'Zoe <zoe@example.com>;role=Landlord'");
    await answer(screen, '? What next?', `${DOWN}${DOWN}\r`);
    await answer(screen, '? Change what?', `${DOWN}${DOWN}\r`);
    await answer(screen, '? Signing order:', `${DOWN}\r`);
    await screen.shows('--signing-order sequential');
    await answer(screen, '❯ Save as draft', `${DOWN}\r`);
    expect((await screen.ended).code).toBe(0);
    const made = (await envelopes()).find((one) => one.subject === 'changed');
    expect(made).toMatchObject({
      status: 'SENT',
      signingOrder: 'SEQUENTIAL',
      signers: [
        { email: 'zoe@example.com', role: 'Landlord', order: 1 },
        { email: 'tara@example.com', role: 'Tenant', order: 2 },
      ],
    });
  });

  it('lets the signers sign in an order other than that of their roles', { tags: ['full'] }, async () => {
    const screen = create(['--dry-run', '--subject', 's', '--message', 'm']);
    await answer(screen, '? Template:', 'lease\r');
    await answer(screen, '? Landlord:', 'lars\r');
    await answer(screen, '? Tenant:', 'tara\r');
    await answer(screen, '? Signing order:', `${DOWN}${DOWN}\r`);
    await answer(screen, '? Who signs first?', `${DOWN}\r`);
    await screen.shows('1.  Tara Tenant    tara@example.com  Tenant');
    await screen.shows("--signer 'Lars Landlord <lars@example.com>;role=Landlord;order=2'");
    screen.type(CTRL_C);
    await screen.ended;
  });

  it('prints only the ID to a pipe, and prompts on stderr', async () => {
    const [file, ...before] = COMMAND;
    const script = `ID=$('${[file, ...before].join("' '")}' envelopes create -q); echo "made <$ID>"`;
    const screen = openScreen('bash', ['--norc', '-c', script], { env: home.env, columns: 60 });
    await answer(screen, '? Template:', 'lease\r');
    await answer(screen, '? Landlord:', 'lars\r');
    await answer(screen, '? Tenant:', 'tara\r');
    await answer(screen, '? Signing order:', '\r');
    await answer(screen, '? Email subject', 'piped\r');
    await answer(screen, '? Message', '\r');
    await answer(screen, '? What next?', '\r');
    await screen.ended;
    const made = (await envelopes()).find((one) => one.subject === 'piped');
    await screen.shows(`made <${String(made?.id)}>`);
  });

  it('shows the request with --dry-run, and creates nothing', { tags: ['full'] }, async () => {
    const before = (await envelopes()).length;
    const screen = create(['--dry-run', '--template', 'tmpl_nda', '--subject', 's', '--message', 'm']);
    await answer(screen, '? Signer:', 'yan@example.com\r');
    await answer(screen, '? Name for yan@example.com:', 'Yan\r');
    await answer(screen, '❯ Show the request', '\r');
    expect((await screen.ended).code).toBe(0);
    await screen.shows('"name": "Yan"');
    expect(await envelopes()).toHaveLength(before);
  });

  it.each([['--no-input'], ['--json']])('prompts for nothing with %s', async (flag) => {
    const screen = create([flag]);
    expect((await screen.ended).code).toBe(2);
    await screen.shows('--template flag is missing');
  });
});

describe('a service with other data', () => {
  const template = (index: number) => ({
    id: `tmpl_${index}`,
    name: `Template ${index}\u001b[2J\u202e`,
    roles: [{ name: 'Buyer\u001b[31m' }],
    description: null,
  });

  it('lists envelopes without signers, sends roles, and escapes control sequences in names', async () => {
    const posted: unknown[] = [];
    const { server, env } = await fakeService((request, response) => {
      if (request.method === 'POST') {
        posted.push(parseJson(request.body));
        return json(response, 201, { data: { id: 'env_new', status: 'DRAFT' } });
      }
      if (request.path.endsWith('/templates')) return answerPage(request, response, 250, template);
      if (request.path.endsWith('/envelopes'))
        return answerPage(request, response, 3, (index) => ({ id: `env_${index}` }));
      const signers = [{ email: 'eve@example.com', name: 'Eve\u001b[2J', role: 'Seller' }];
      return json(response, 200, { data: { id: 'env_1', signers } });
    });
    const screen = open(['envelopes', 'create'], { ...home.env, ...env });
    await answer(screen, '? Template:', 'template 249');
    await screen.shows('❯ Template 249␛[2J<202E>  tmpl_249');
    screen.type('\r');
    await answer(screen, '? Buyer␛[31m:', 'eve\r');
    await answer(screen, '? Email subject', '\r');
    await answer(screen, '? Message', '\r');
    await screen.shows("--signer $'Eve\\u001b[2J <eve@example.com>;role=Buyer\\u001b[31m'");
    await answer(screen, '? What next?', '\r');
    expect((await screen.ended).code).toBe(0);
    expect(screen.raw()).not.toMatch(/\u001b\[2J|\u202e/);
    expect(posted).toMatchObject([
      { templateId: 'tmpl_249', signers: [{ email: 'eve@example.com', role: 'Buyer\u001b[31m' }] },
    ]);
    await server.close();
  });

  it("continues if recent envelopes can't be read, and stops if no template exists", {
    tags: ['full'],
  }, async () => {
    let templates = 1;
    const { server, env } = await fakeService((request, response) => {
      if (request.path.endsWith('/templates')) return answerPage(request, response, templates, template);
      return json(response, 403, { error: { code: 'FORBIDDEN', message: 'no' } });
    });
    const screen = open(['envelopes', 'create'], { ...home.env, ...env });
    await answer(screen, '? Template:', '\r');
    await answer(screen, '? Buyer␛[31m, such as Ada <ada@example.com>:', 'zed\r');
    await answer(screen, 'Type an address: ada@example.com, or Ada Lovelace', '@\r');
    await answer(screen, '"zed@" is not an email address.', CTRL_C);
    expect(await screen.ended).toMatchObject({ signal: 2 });
    templates = 0;
    const empty = open(['envelopes', 'create'], { ...home.env, ...env });
    expect((await empty.ended).code).toBe(2);
    await empty.shows('The account has no templates.');
    await server.close();
  });
});
