import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Home, reportedError } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';

const home = new Home();
afterAll(() => home.close());

describe.skipIf(process.platform === 'win32')('an endless input', () => {
  it.each([
    'sandbox seed /dev/zero',
    'sandbox exec --seed /dev/zero -- true',
    'listen --secret-file /dev/zero --port 0',
    'documents verify --trust /dev/zero .',
  ])('is refused: %s', async (words) => {
    await home.sandbox();
    const [before = '', after] = words.split(' -- ');
    const command = [...before.split(' '), '--json', ...(after === undefined ? [] : ['--', after])];
    const error = reportedError(await home.run(command));
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining('64 MiB') as unknown });
  });

  it('is refused from a pipe', async () => {
    await home.sandbox();
    const piped = await home.shell('yes "envelopes:" | esign sandbox seed - --json');
    expect(piped.stderr).toContain('64 MiB');
  });
});

describe.skipIf(process.platform === 'win32')('a named pipe', () => {
  const pipe = () => home.path(`pipe-${Math.random()}`);

  it('is read when somebody writes to it', async () => {
    await home.sandbox();
    const path = pipe();
    execFileSync('mkfifo', [path]);
    const seeded = home.shell(
      `(sleep 0.3; echo '{"templates":[{"id":"tmpl_piped","name":"P"}]}' > ${path}) & esign sandbox seed ${path} --json`,
    );
    expect(JSON.parse((await seeded).stdout)).toMatchObject({ templates: 1 });
    const substituted = await home.shell(`esign sandbox seed <(echo '{"templates":[]}') --json`);
    expect(substituted.code).toBe(0);
  });

  it.each([
    'sandbox seed PIPE',
    'bulk create PIPE --template tmpl_nda --dry-run',
    'listen --secret-file PIPE --port 0',
    'sandbox exec --seed PIPE -- true',
    'documents verify --trust PIPE .',
  ])("doesn't keep Ctrl-C from ending %s if its writer is silent", async (words) => {
    await home.sandbox();
    const path = pipe();
    execFileSync('mkfifo', [path]);
    const command = home.start(words.replace('PIPE', path).split(' '));
    // Opening it to write succeeds when somebody reads.
    const writer = await eventually(() => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    const began = Date.now();
    expect((await command.stop('SIGINT')).signal).toBe('SIGINT');
    expect(Date.now() - began).toBeLessThan(12_000);
    closeSync(writer);
  });
});

it('ends a command on Ctrl-C while stdin has no end', async () => {
  await home.sandbox();
  const command = home.start(['sandbox', 'seed', '-']);
  const { stdin } = command.child;
  // More than a pipe holds: the callback comes when it is read.
  await new Promise((resolve) => stdin?.write('#'.repeat(1_000_000), resolve));
  const began = Date.now();
  expect((await command.stop('SIGINT')).signal).toBe('SIGINT');
  expect(Date.now() - began).toBeLessThan(12_000);
});
