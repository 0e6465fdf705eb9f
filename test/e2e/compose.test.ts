import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { COMMAND, Home } from '../support/cli.ts';
import { openScreen, type Screen } from '../support/pty.ts';

const home = new Home();
const DOWN = '\u001b[B';
const ESCAPE = '\u001b';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

beforeAll(async () => {
  await home.sandbox();
  await home.json([
    ...['envelopes', 'create', '--template', 'tmpl_lease', '--subject', 'earlier'],
    ...['--signer', 'Tara Tenant <tara@example.com>;role=Tenant'],
    ...['--signer', 'Lars Landlord <lars@example.com>;role=Landlord'],
  ]);
});
afterAll(() => home.close());

function create(args: string[] = [], size: { columns?: number; rows?: number } = {}): Screen {
  const [file, ...before] = COMMAND;
  return openScreen(file, [...before, 'envelopes', 'create', ...args], { env: home.env, ...size });
}

/** The subjects and statuses of the envelopes there are, the example aside. */
async function envelopes(): Promise<Record<string, unknown>[]> {
  const list = await home.json(['envelopes', 'list', '--all']);
  const records = Array.isArray(list) ? list.filter(isRecord) : [];
  return records.filter((one) => one.subject !== 'earlier');
}

const answer = async (screen: Screen, question: string, keys: string) => {
  await screen.shows(question);
  screen.type(keys);
};

/** Template, two known signers, all at once. */
async function upToTheSubject(screen: Screen): Promise<void> {
  await answer(screen, '? Template:', 'lease\r');
  await answer(screen, '? Tenant:', 'tara\r');
  await answer(screen, '? Landlord:', 'lars\r');
  await answer(screen, '? Who signs when:', '\r');
}

describe('envelopes create on a terminal', () => {
  it('asks for template, signers by role, order and mail, shows it all, and keeps a draft', async () => {
    const screen = create();
    await upToTheSubject(screen);
    await answer(screen, '? Subject', "Lars' flat\r");
    await answer(screen, '? Message', '\r');
    await screen.shows('? What now?');
    expect(screen.text()).toContain('Residential lease (tmpl_lease), 4 pages');
    expect(screen.text()).toContain("--signer 'Tara Tenant <tara@example.com>;role=Tenant'");
    expect(screen.text()).toContain(`--subject 'Lars'\\'' flat'`);
    screen.type('\r');
    expect(await screen.ended).toEqual({ code: 0, signal: undefined });
    await screen.shows('DRAFT, for 2 signers');
    const [made, ...others] = await envelopes();
    expect(others).toEqual([]);
    expect(made).toMatchObject({ subject: "Lars' flat", status: 'DRAFT', signingOrder: 'PARALLEL' });
  });

  it('leaves nothing behind on Ctrl-C or Ctrl-D at any question', async () => {
    const before = (await envelopes()).length;
    const questions = [
      '? Template:',
      '? Tenant:',
      '? Landlord:',
      '? Who signs when:',
      '? Subject',
      '? Message',
    ];
    for (const [index, last] of [...questions, '? What now?'].entries()) {
      const screen = create();
      for (const question of questions.slice(0, index))
        await answer(screen, question, question.includes('Template') ? 'lease\r' : '\r');
      await answer(screen, last, index % 2 === 0 ? CTRL_C : CTRL_D);
      expect(await screen.ended).toMatchObject({ signal: 2 });
    }
    expect(await envelopes()).toHaveLength(before);
  }, 60_000);

  it('goes back with Escape, and asks again', async () => {
    const screen = create();
    await answer(screen, '? Template:', 'lease\r');
    await answer(screen, '? Tenant:', 'tara\r');
    await answer(screen, '? Landlord:', ESCAPE);
    await answer(screen, '? Tenant:', 'Zoe <zoe@example.com>\r');
    await screen.shows('? Landlord:');
    expect(screen.text()).not.toContain('✔ Tenant: Tara');
    expect(screen.text()).toContain('✔ Tenant: Zoe <zoe@example.com>');
    screen.type(CTRL_C);
    await screen.ended;
  });

  it('ends with 2 and nothing created when it is left', async () => {
    const before = (await envelopes()).length;
    const screen = create(['--template', 'tmpl_nda', '--subject', 'x', '--message', 'y']);
    await answer(screen, '? Signer:', 'Zoe <zoe@example.com>\r');
    await answer(screen, '? Further signer:', '\r');
    await answer(screen, '? What now?', `${DOWN}${DOWN}${DOWN}\r`);
    expect((await screen.ended).code).toBe(2);
    await screen.shows('Not confirmed; nothing was created.');
    expect(await envelopes()).toHaveLength(before);
  });

  it.each([['--no-input'], ['--json']])('asks nothing with %s', async (flag) => {
    const screen = create([flag]);
    expect((await screen.ended).code).toBe(2);
    await screen.shows('--template is missing');
  });
});
