import { execFileSync, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMAND, Home, PACKAGE, reportedError } from '../support/cli.ts';
import { type FakeService, serviceOfOne } from '../support/fake-service.ts';

const home = new Home();
let service: FakeService;
beforeAll(async () => {
  service = await serviceOfOne();
});
const isWindows = process.platform === 'win32';

describe('a command', () => {
  it('shows help and version even with invalid settings', async () => {
    await writeFile(home.path('profiles.json'), '{broken');
    const broken = `ESIGN_CONFIG_DIR=${home.folder}`;
    const [help, version, list] = await Promise.all([
      home.shell(`${broken} esign envelopes create --help`),
      home.shell(`${broken} esign --version`),
      home.shell(`${broken} esign envelopes list`),
    ]);
    expect([help.code, version.code, list.code]).toEqual([0, 0, 2]);
    expect(help.stdout).toContain('EXAMPLES');
    expect(list.stderr).toContain(home.path('profiles.json'));
  });

  it('prints no additional debug output when DEBUG asks for everything, and errors then have a stack', async () => {
    const env = { DEBUG: '*' };
    const list = await home.run(['profiles', 'list', '--json'], { env });
    expect(list).toMatchObject({ code: 0, stderr: '' });
    const failed = await home.run(['envelopes', 'get', '--nope'], { env });
    expect(failed.stderr).toMatch(/UsageError: Unknown flag --nope\.\n +at /);
  });

  // An executable ignores NODE_OPTIONS.
  it.skipIf(PACKAGE === undefined)('never exits with 0 before it is done', async () => {
    // An input that never ends and doesn't keep a process alive.
    await writeFile(
      home.path('endless.cjs'),
      "const { Readable } = require('node:stream'); Object.defineProperty(process, 'stdin', { value: new Readable({ read() {} }) });",
    );
    const run = await home.run(['envelopes', 'get', '-', '--json'], {
      env: { ...service.env, NODE_OPTIONS: `--require ${home.path('endless.cjs')}` },
    });
    expect(reportedError(run)).toMatchObject({ code: 'UNEXPECTED', exitCode: 1 });
    expect(run.code).toBe(1);
  });
});

describe.skipIf(isWindows)('Ctrl-C', () => {
  it('stops the shell script that runs the command', async () => {
    const child = spawn(
      'bash',
      ['--norc', '-c', `${COMMAND.join(' ')} listen --no-verify --port 0 --json; echo "continued"`],
      { env: { ...home.env, ...service.env }, detached: true },
    );
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += String(chunk);
      // Like a terminal: the whole foreground group gets the signal.
      if (stdout.includes('ready') && child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    });
    const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)));
    expect([signal, stdout.includes('continued')]).toEqual(['SIGINT', false]);
    expect(stdout).toContain('"type":"summary"');
  });

  it('ends a command whose stdin has no end', async () => {
    await home.sandbox();
    const command = home.start(['sandbox', 'seed', '-']);
    const { stdin } = command.child;
    // More than a pipe holds: the callback comes when it is read.
    await new Promise((resolve) => stdin?.write('#'.repeat(1_000_000), resolve));
    expect((await command.stop('SIGINT')).signal).toBe('SIGINT');
  });
});

describe.skipIf(isWindows)('an input', () => {
  it('may be a named pipe, which is read when somebody writes to it', async () => {
    await home.sandbox();
    const path = home.path('pipe');
    execFileSync('mkfifo', [path]);
    const seed = `'{"templates":[{"id":"tmpl_piped","name":"P"}]}'`;
    const seeded = await home.shell(`echo ${seed} > ${path} & esign sandbox seed ${path} --json`);
    expect(JSON.parse(seeded.stdout)).toMatchObject({ templates: 1 });
    expect((await home.shell(`esign sandbox seed <(echo ${seed}) --json`)).code).toBe(0);
  });

  it.each(['sandbox seed /dev/zero', 'listen --secret-file /dev/zero --port 0'])(
    'is refused if it has no end: %s',
    async (words) => {
      const error = reportedError(await home.run(`${words} --json`.split(' '), { env: service.env }));
      expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining('64 MiB') as unknown });
    },
  );
});
