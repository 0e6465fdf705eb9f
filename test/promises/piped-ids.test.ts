import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND, Home } from '../support/cli.ts';
import { openScreen, type Screen } from '../support/pty.ts';

/* Confirmations for IDs from a pipe are read from the terminal, since stdin has the IDs. */
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});
afterAll(() => home.close());

/** Runs a shell command line with `esign` on the PATH, on a terminal. */
function shell(line: string, env: Record<string, string> = {}): Screen {
  const program = COMMAND.map((word) => `'${word}'`).join(' ');
  const script = `esign() { ${program} "$@"; }; ${line}; echo "exit $?"`;
  return openScreen('/bin/sh', ['-c', script], { env: { ...home.env, ...env }, columns: 120 });
}
const envelope = async (subject: string, ...extra: string[]) => {
  const flags = ['--subject', subject, '--signer', 'Ada Lovelace <ada@example.com>', ...extra];
  return String((await home.object`envelopes create --template tmpl_nda ${flags}`).id);
};
const two = async () => [await envelope('Flat 1', '--send'), await envelope('Flat 2', '--send')] as const;
const statusOf = async (id: string) => (await home.object`envelopes get ${id}`).status;

describe('several IDs from a pipe', () => {
  it('are shown with subject and signers, and canceled after a yes on the terminal', async () => {
    const [first, second] = await two();
    const screen = shell(`printf '%s\\n' ${first} ${second} | esign envelopes cancel -`);
    await screen.shows('Cancel 2 envelopes?');
    expect(screen.text()).toContain(`${first}  Flat 1  for Ada Lovelace`);
    expect(screen.text()).toContain(`${second}  Flat 2  for Ada Lovelace`);
    screen.type('y\r');
    await screen.shows('exit 0');
    expect(await Promise.all([first, second].map(statusOf))).toEqual(['CANCELLED', 'CANCELLED']);
  });

  it.each([
    ['no', 'n\r', 'exit 2'],
    ['Ctrl-C', '\u0003', 'exit 130'],
  ])('change nothing after %s', async (_, keys, end) => {
    const [first, second] = await two();
    const screen = shell(`printf '%s\\n' ${first} ${second} | esign envelopes remind -`);
    await screen.shows('Send reminders for 2 envelopes?');
    screen.type(keys);
    await screen.shows(end);
    for (const id of [first, second]) expect(await home.json`sandbox mails --envelope ${id}`).toHaveLength(1);
  });

  it.each([
    ['--no-input', '--no-input', {}],
    ['CI', '', { CI: 'true' }],
  ])('are refused without a prompt with %s', async (_, flag, env) => {
    const [first, second] = await two();
    const screen = shell(`printf '%s\\n' ${first} ${second} | esign envelopes cancel - ${flag}`, env);
    await screen.shows('exit 2');
    expect(screen.text()).toContain('--yes');
    expect(await statusOf(first)).toBe('SENT');
  });

  it('are refused without a prompt if no terminal is attached', async () => {
    const [first, second] = await two();
    // setsid leaves stderr on the terminal, which no longer controls the process.
    const [file, ...rest] = COMMAND;
    const command = ['setsid', '--wait', file, ...rest].map((word) => `'${word}'`).join(' ');
    const screen = shell(`printf '%s\\n' ${first} ${second} | ${command} envelopes cancel -`);
    await screen.shows('exit 2');
    expect(await statusOf(first)).toBe('SENT');
  });
});

describe('an empty pipe', () => {
  it.each(['cancel', 'send', 'remind', 'get'])('is reported by %s, which succeeds', async (verb) => {
    const result = await home.run(['envelopes', verb, '-'], { input: '' });
    expect([result.code, result.stdout]).toEqual([0, '']);
    expect(result.stderr).toContain('stdin');
  });
});

describe('--dry-run on a terminal', () => {
  it('shows subjects and signers, and what would be left out', async () => {
    const [first, second] = await two();
    await home.run`envelopes cancel ${second}`;
    const screen = shell(`printf '%s\\n' ${first} ${second} | esign envelopes cancel - --dry-run`);
    await screen.shows('exit 0');
    expect(screen.text()).toContain(`would cancel ${first}  Flat 1  for Ada Lovelace`);
    expect(screen.text()).toContain(`Skipped ${second}  Flat 2`);
    expect(screen.text()).not.toContain(`would cancel ${second}`);
    expect(await statusOf(first)).toBe('SENT');
  });
});
