import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { rowsOf } from '../support/bulk-check.ts';
import { Home, linesOf, reportedError } from '../support/cli.ts';
import { canMount, onSmallDisk } from '../support/disk-faults.ts';
import { type FakeService, serviceOfOne } from '../support/fake-service.ts';

const home = new Home();
let service: FakeService;
beforeAll(async () => {
  service = await serviceOfOne();
});

// Every write to it fails as on a full disk.
describe.skipIf(!existsSync('/dev/full'))('a full disk behind stdout', () => {
  const commands = [
    '--help',
    '--version',
    'profiles list --json',
    'envelopes list',
    'envelopes get env_1 --json',
  ];

  it.each(commands)('is reported in a sentence: %s', async (command) => {
    const run = await home.shell(`esign ${command} > /dev/full`, service.env);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('the disk is full');
    expect(run.stderr).not.toMatch(/^\s+at |node:|Something went wrong/m);
  });

  it.each(['envelopes get env_1', 'listen --no-verify --port 0'])(
    'is reported in one line with --json: %s',
    async (command) => {
      const run = await home.shell(`esign ${command} --json > /dev/full`, service.env);
      expect(reportedError(run)).toMatchObject({ code: 'OUTPUT', exitCode: 1 });
      const errors = linesOf(run.stderr).filter((line) => isRecord(parseJson(line)));
      expect(errors).toHaveLength(1);
    },
  );

  it('changes nothing if it is behind stderr', async () => {
    const run = await home.shell('esign envelopes list -L 1 2> /dev/full', service.env);
    expect([run.code, run.stdout.startsWith('env_1')]).toEqual([0, true]);
  });
});

describe("a folder that can't be created", () => {
  beforeAll(() => writeFile(home.path('file'), ''));
  const add = 'profiles add a --base-url http://127.0.0.1:9 --api-key-command true --no-verify';
  const places = [
    ['below a file', () => home.path('file', 'x')],
    ...(existsSync('/proc/1') ? ([['below /proc/1', () => '/proc/1/nope']] as const) : []),
  ] as const;
  const uses = [
    ['ESIGN_CONFIG_DIR', add],
    ['HOME', add],
    ['ESIGN_STATE_DIR', 'listen --no-verify --port 0'],
    ['ESIGN_STATE_DIR', 'sandbox start --port 0'],
    ['ESIGN_STATE_DIR', 'envelopes remind env_1 --min-gap 1d --yes'],
    [
      'ESIGN_CONFIG_DIR',
      'envelopes create --template tmpl_1 --signer a@b.co --webhook-url https://example.com',
    ],
  ] as const;

  it.each(places)('ends a demo with 2 and prints its path: %s', async (_place, folder) => {
    const run = await home.run`demo --dir ${folder()}`;
    expect([run.code, run.stderr.includes(folder())]).toEqual([2, true]);
  });

  describe.each(places)('a folder in %s', (_place, folder) => {
    it.each(uses)('exits with 2 and prints its path when it is used as %s: %s', async (variable, command) => {
      const env = {
        ...service.env,
        ...(variable === 'HOME' ? { ESIGN_CONFIG_DIR: '', ESIGN_STATE_DIR: '' } : {}),
        [variable]: folder(),
      };
      const run = await home.run(command.split(' '), { env });
      expect(run.code).toBe(2);
      expect(run.stderr).toContain(folder());
      expect(run.stderr).not.toMatch(/Something went wrong|ENOENT|ENOTDIR/);
    });

    it("doesn't prevent a result", async () => {
      const run = await home.run(argv`find env_1 -q`, {
        env: { ...service.env, ESIGN_STATE_DIR: folder() },
      });
      expect([run.code, run.stdout]).toEqual([0, 'env_1\n']);
      expect(run.stderr).toContain(folder());
    });
  });
});

describe.skipIf(process.platform === 'win32')("variables that don't name a folder", () => {
  it.each(['', 'relative'])('create nothing in the current folder (%j)', async (value) => {
    await mkdir(home.path('here'), { recursive: true });
    const unset = { ESIGN_CONFIG_DIR: '', ESIGN_STATE_DIR: '' };
    const env = { ...unset, XDG_CONFIG_HOME: value, XDG_STATE_HOME: value, XDG_CACHE_HOME: value };
    const sandbox = home.start(argv`sandbox start --port 0 --json`, {
      env,
      cwd: home.path('here'),
    });
    await sandbox.object();
    await sandbox.stop();
    expect(await readdir(home.path('here'))).toEqual([]);
    expect(await readdir(home.path('.config', 'esign'))).toEqual(['profiles.json']);
  });
});

describe.skipIf(!canMount)('a full disk for the state', { tags: ['full'] }, () => {
  const account = new Home();
  const ids = { draft: '', open: '' };
  beforeAll(async () => {
    await account.sandbox();
    await writeFile(account.path('rows.csv'), rowsOf(2));
    const create = 'envelopes create --template tmpl_nda --signer ada@example.com -q'.split(' ');
    ids.draft = (await account.run(create)).stdout.trim();
    ids.open = (await account.run([...create, '--send'])).stdout.trim();
  });

  const envelopes = async () => {
    const list = await account.json`envelopes list --all --json`;
    return isList(list) ? list.filter(isRecord).map(({ id, status }) => [id, status]) : [];
  };

  it.each([
    [
      'a create',
      () => ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'bo@example.com', '--send'],
    ],
    ['a send', () => ['envelopes', 'send', ids.draft]],
    ['a reminder', () => ['envelopes', 'remind', ids.open]],
    ['a cancellation', () => ['envelopes', 'cancel', ids.open]],
    ['a bulk run', () => ['bulk', 'create', 'rows.csv', '--template', 'tmpl_nda', '--send', '--yes']],
  ])('sends nothing and exits with 1: %s', async (_, words) => {
    const before = await envelopes();
    await rm(account.path('state'), { recursive: true });
    await mkdir(account.path('state'));
    // It fills the only page of the disk.
    await writeFile(account.path('state', 'other'), 'x'.repeat(4096));
    const run = await onSmallDisk(account, account.path('state'), 4, words());
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('disk is full')]);
    expect(await envelopes()).toEqual(before);
  });

  it('counts no rows of a run whose journal it stopped, because the last ones may have been sent', async () => {
    await rm(account.path('state'), { recursive: true });
    await mkdir(account.path('state'));
    await writeFile(account.path('many.csv'), rowsOf(300));
    const words = ['bulk', 'create', 'many.csv', '--template', 'tmpl_nda', '--send', '--yes'];
    const { code, stderr } = await onSmallDisk(account, account.path('state'), 160, words);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/disk is full.*is found when it is resumed/s)]);
    expect(stderr).not.toMatch(/envelopes? sent/);
  });
});
