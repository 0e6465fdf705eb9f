import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { COMMAND, Home } from '../support/cli.ts';
import { openScreen, type Screen } from '../support/pty.ts';

/*
 * Commands that email or end several envelopes list them before they ask; a second reminder within the hour needs
 * confirmation.
 */
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});
afterAll(() => home.close());

const open = (args: string[], env: Record<string, string> = {}): Screen => {
  const [file, ...before] = COMMAND;
  return openScreen(file, [...before, ...args], { env: { ...home.env, ...env }, columns: 100 });
};
const envelope = async (subject: string, ...extra: string[]) => {
  const flags = ['--subject', subject, '--signer', 'Ada Lovelace <ada@example.com>', ...extra];
  return String((await home.object`envelopes create --template tmpl_nda ${flags}`).id);
};
const statusOf = async (id: string) => (await home.object`envelopes get ${id}`).status;

describe('several envelopes', () => {
  it('are shown with subject and pending signers, and ineligible ones are left out', async () => {
    const ids = [
      await envelope('Flat 1', '--send'),
      await envelope('Flat 2'),
      await envelope('Flat 3', '--send'),
    ];
    await home.run`envelopes cancel ${ids[2] ?? ''}`;
    const screen = open(['envelopes', 'cancel', ...ids, 'env_none']);
    await screen.shows('Cancel 2 envelopes?');
    const text = screen.text();
    expect(text).toContain(`${ids[0]}  Flat 1  for Ada Lovelace`);
    expect(text).toContain(`${ids[1]}  Flat 2  for Ada Lovelace`);
    expect(text).toMatch(new RegExp(`Skipped ${ids[2]}  Flat 3 .*: it is CANCELLED`));
    expect(text).toContain('Skipped env_none: Envelope not found.');
    screen.type('y\r');
    expect((await screen.ended).code).toBe(0);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
  });

  it('cause no prompt if none of them is eligible', async () => {
    const ids = [await envelope('Draft 1'), await envelope('Draft 2')];
    const screen = open(['envelopes', 'remind', ...ids]);
    expect((await screen.ended).code).toBe(5);
    expect(screen.text()).toMatch(/None of the 2/);
  });
});

describe('a second reminder within the hour', () => {
  it('is reported in a pipe, and needs confirmation on a terminal', async () => {
    const id = await envelope('Again', '--send');
    const first = await home.run`envelopes remind ${id}`;
    expect([first.code, first.stderr]).toEqual([0, '']);
    const second = await home.run`envelopes remind ${id}`;
    expect([second.code, second.stderr]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^${id}: .* was reminded \\d+ seconds? ago\\.\n$`)),
    ]);
    const screen = open(['envelopes', 'remind', id]);
    await screen.shows('Send another reminder?');
    screen.type('\r');
    expect((await screen.ended).code).toBe(2);
    await screen.shows('nothing was sent');
    const sure = open(['envelopes', 'remind', id, '--yes']);
    expect((await sure.ended).code).toBe(0);
  });

  it('is shown among several, with its recipients', async () => {
    const ids = [await envelope('One', '--send'), await envelope('Two', '--send')];
    await home.run`envelopes remind ${ids[1] ?? ''} --signer ada@example.com`;
    const screen = open(['envelopes', 'remind', ...ids]);
    await screen.shows('Send reminders for 2 envelopes?');
    expect(screen.text()).toMatch(new RegExp(`! ${ids[1]}: ada@example.com was reminded \\d+ seconds? ago`));
    expect(screen.text()).not.toContain(`! ${ids[0]}`);
    screen.type('\u0003');
    await screen.ended;
  });
});

describe('a DECLINED envelope', () => {
  it('is canceled only after a confirmation that names who declined', async () => {
    const id = await envelope('Declined', '--send');
    await home.run`sandbox decline ${id} --reason rent`;
    const no = open(['envelopes', 'cancel', id]);
    await no.shows('Cancel it anyway?');
    expect(no.text()).toContain(`${id} was declined by Ada Lovelace`);
    no.type('\r');
    expect((await no.ended).code).toBe(2);
    expect(await statusOf(id)).toBe('DECLINED');
    const yes = open(['envelopes', 'cancel', id]);
    await yes.shows('Cancel it anyway?');
    yes.type('y\r');
    expect((await yes.ended).code).toBe(0);
    expect(await statusOf(id)).toBe('CANCELLED');
  });
});

describe('a reminder', () => {
  it('names only the signers who were emailed', async () => {
    const id = await envelope('Both', '--send', '--signer', 'Bo Larsen <bo@example.com>');
    await home.run`envelopes remind ${id} --signer ada@example.com`;
    const screen = open(['envelopes', 'remind', id, '--min-gap', '1h']);
    expect((await screen.ended).code).toBe(0);
    await screen.shows('Reminded Bo Larsen <bo@example.com>');
    expect(screen.text()).not.toContain('Ada');
  });
});

describe('esign --help', () => {
  it('fits a narrow terminal', async () => {
    const [file, ...before] = COMMAND;
    const screen = openScreen(file, [...before, '--help'], { env: home.env, columns: 60, rows: 60 });
    await screen.ended;
    expect(screen.written().filter((line) => line.length > 60)).toEqual(
      // Commands are not wrapped, so that they can be copied.
      [expect.stringMatching(/^ +esign envelopes create /)],
    );
  });
});

describe('sandbox mails on a terminal', () => {
  it('shows the complete link to the signing page on a terminal of any width', async () => {
    const id = await envelope('Sent', '--send');
    const { stdout } = await home.run`sandbox mails --envelope ${id}`;
    const [file, ...before] = COMMAND;
    const words = [...before, 'sandbox', 'mails', '--envelope', id];
    const screen = openScreen(file, words, { env: home.env, columns: 40 });
    await screen.ended;
    expect(screen.written().map((line) => line.trim())).toContain(stdout.trim().split('\t').at(-1));
  });
});

describe('create --dry-run', () => {
  const args = [
    'envelopes',
    'create',
    '--template',
    'tmpl_nda',
    '--signer',
    'Ada <ada@example.com>',
    '--dry-run',
  ];

  it('describes the envelope on a terminal, and prints the request elsewhere and with --json', async () => {
    const screen = open(args);
    expect((await screen.ended).code).toBe(0);
    expect(screen.text()).toContain('Confidentiality undertaking (tmpl_nda)');
    expect(screen.text()).toContain(
      "esign envelopes create --template tmpl_nda --signer 'Ada <ada@example.com>'",
    );
    expect(screen.text()).toContain('Nothing was created.');
    expect(screen.text()).not.toContain('"dryRun"');
    const asJson = open([...args, '--json']);
    await asJson.ended;
    expect(asJson.text()).toContain('"dryRun"');
    expect(await home.object(args)).toMatchObject({ dryRun: true, body: { templateId: 'tmpl_nda' } });
    expect(parseJson((await home.run(args)).stdout)).toMatchObject({ dryRun: true });
  });

  it('shows no part of a secret, even if it would wrap over two lines', async () => {
    const secret = Array.from({ length: 40 }, (_, i) => `part${i}`).join('-');
    const more = ['--subject', `The ${secret} is it`, '--message', `${'x '.repeat(40)}${secret}`];
    const screen = open([...args, ...more], { ESIGN_WEBHOOK_SECRET: secret });
    expect((await screen.ended).code).toBe(0);
    expect(screen.text()).toContain('The [redacted] is it');
    expect(screen.text()).not.toMatch(/part\d/);
  });
});
