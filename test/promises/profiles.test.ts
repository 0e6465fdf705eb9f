import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, reportedError, type Sandbox } from '../support/cli.ts';
import { json, startServer } from '../support/server.ts';

const service = new Home();
let home: Home;
const canary = 'sk_canary_0123456789abcdef';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await service.sandbox([], { hasProfile: false });
});
afterAll(() => service.close());
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

const add = (name: string, ...args: string[]) =>
  home.run(argv`profiles add ${name} --base-url ${sandbox.baseUrl} --api-key-stdin ${args}`, {
    input: `${sandbox.apiKey}\n`,
  });

/** A profile as stored in the file. */
async function stored(name: string): Promise<Record<string, unknown>> {
  const file = parseJson(await readFile(home.path('config', 'profiles.json'), 'utf8'));
  const profiles = isRecord(file) && isRecord(file.profiles) ? file.profiles : {};
  const profile = profiles[name];
  return isRecord(profile) ? profile : {};
}

describe('profiles', () => {
  it('are added after the key has been checked; the first is current; the file is private', async () => {
    const { code, stdout } = await add('acme', '--bucket', 'contracts', '--region', 'eu-central-1');
    expect(code).toBe(0);
    expect(stdout).toContain('acme (current)');
    expect(stdout).not.toContain(sandbox.apiKey);
    expect((await stat(home.path('config', 'profiles.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(home.path('config'))).mode & 0o777).toBe(0o700);
    expect((await home.run`templates list`).code).toBe(0);
  });

  it('are not stored when the key is refused', async () => {
    await add('acme');
    const refused = await home.run(argv`profiles add wrong --base-url ${sandbox.baseUrl} --api-key-stdin`, {
      input: canary,
    });
    expect(refused.code).toBe(3);
    expect(refused.stderr).not.toContain(canary);
    expect((await home.run`profiles list -q`).stdout).toBe('acme\n');
  });

  it('read the key from a file, the environment, or a command at each use', async () => {
    await writeFile(home.path('key'), `${sandbox.apiKey}\n`);
    const base = ['profiles', 'add'];
    const url = ['--base-url', `${sandbox.baseUrl}/`];
    const [file, env, command] = [
      await home.run`${base} file ${url} --api-key-file key`,
      await home.run(argv`${base} env ${url}`, { env: { ESIGN_API_KEY: sandbox.apiKey } }),
      await home.run([...base, 'command', ...url, '--api-key-command', `cat ${home.path('key')}`]),
    ];
    expect([file.code, env.code, command.code]).toEqual([0, 0, 0]);
    expect((await home.run`templates list -p command -q`).code).toBe(0);
    const stored = await readFile(home.path('config', 'profiles.json'), 'utf8');
    expect(stored.split(sandbox.apiKey)).toHaveLength(3);
  });

  it('show a key command without the key that it may contain', async () => {
    const command = ['--base-url', sandbox.baseUrl, '--api-key-command', `echo ${sandbox.apiKey}`];
    const shown = [
      await home.run(['profiles', 'add', 'echoed', ...command]),
      await home.run`profiles show echoed`,
      await home.run`profiles show echoed --json`,
      await home.run`profiles list --json`,
      await home.run`doctor -p echoed --json`,
    ].map(({ stdout, stderr }) => stdout + stderr);
    expect(shown.filter((text) => text.includes(sandbox.apiKey))).toEqual([]);
    expect(shown[1]).toContain(`echo ${sandbox.apiKey.slice(0, 8)}…`);
    await home.run`profiles remove echoed --yes`;
  });

  it('refuse a key command that prints a key and fails, prints without end, or prints no usable key', async () => {
    const commands = {
      failing: `echo ${sandbox.apiKey}; exit 1`,
      endless: 'yes',
      foreign: "printf 'ключ'",
    };
    for (const [name, command] of Object.entries(commands)) {
      await home.run([
        'profiles',
        'add',
        name,
        '--base-url',
        sandbox.baseUrl,
        '--no-verify',
        '--api-key-command',
        command,
      ]);
      const listed = await home.run`templates list -p ${name}`;
      expect([name, listed.code]).toEqual([name, 2]);
      expect(listed.stderr).not.toContain(sandbox.apiKey);
      await home.run`profiles remove ${name} --yes`;
    }
  });

  it('show the source of each value', async () => {
    await add('acme', '--bucket', 'contracts', '--region', 'eu-central-1');
    const shown = await home.object`profiles show acme`;
    expect(shown).toMatchObject({
      profile: { value: 'acme', source: 'flag' },
      baseUrl: { value: sandbox.baseUrl, source: 'profile' },
      apiKey: { value: `${sandbox.apiKey.slice(0, 8)}…`, source: 'profile' },
      storage: { bucket: 'contracts', region: 'eu-central-1' },
    });
    const env = { ESIGN_BASE_URL: 'http://127.0.0.1:9/v1', ESIGN_API_KEY: canary };
    const { stdout } = await home.run(argv`profiles show --json`, { env });
    expect(stdout).toContain('"environment"');
    expect(stdout).not.toContain(canary);
  });

  it('explain how to be stored while the service is unreachable', async () => {
    const args = ['profiles', 'add', 'later', '--base-url', 'http://127.0.0.1:9/api/v1', '--api-key-stdin'];
    const run = await home.run(argv`${args} --json`, { input: 'sk_canary_0123456789' });
    expect(run.code).toBe(8);
    expect(reportedError(run).hint).toMatch(/Nothing was stored.*--no-verify/);
    expect(String(reportedError(run).hint)).not.toContain('profiles show');
    expect((await home.run`profiles show later`).code).toBe(2);
    expect((await home.run(argv`${args} --no-verify`, { input: 'sk_canary_0123456789' })).code).toBe(0);
    await home.run`profiles remove later --yes`;
  });

  it('can be edited, used, and removed', async () => {
    await add('acme', '--bucket', 'contracts', '--region', 'eu-central-1');
    await add('other');
    await home.run(['profiles', 'edit', 'acme', '--endpoint', 'https://minio.example.com', '--region', '']);
    expect(await home.object`profiles show acme`).toMatchObject({
      storage: { bucket: 'contracts', region: null, endpoint: 'https://minio.example.com', pathStyle: true },
    });
    await home.run`profiles use other`;
    expect((await home.run`profiles list`).stdout).toMatch(/^other\t\*\t/m);
    const rehearsed = await home.run`profiles remove other --dry-run`;
    expect([rehearsed.code, rehearsed.stdout]).toEqual([0, 'would remove other\n']);
    expect((await home.run`profiles remove other --yes`).stdout).toContain('esign profiles use');
    expect((await home.run`templates list`).code).toBe(3);
    expect((await home.run`profiles remove other --yes`).code).toBe(2);
  });

  it('keep all other values when they are edited, including secrets', async () => {
    await writeFile(home.path('bucket.secret'), 'canary-bucket-secret-0123\n');
    const storage = ['--bucket', 'b1', '--endpoint', 'http://127.0.0.1:9', '--access-key-id', 'AKID'];
    await add('keeps', ...storage, '--secret-access-key-file', 'bucket.secret');
    const before = await stored('keeps');
    const edited = await home.run`profiles edit keeps --bucket b2 --json`;
    expect(edited.code).toBe(0);
    expect(parseJson(edited.stdout)).toMatchObject({
      name: 'keeps',
      storage: { bucket: 'b2', accessKeyId: 'AKID' },
    });
    expect(edited.stdout + edited.stderr).not.toContain('canary');
    expect(await stored('keeps')).toEqual({
      ...before,
      storage: { ...(isRecord(before.storage) ? before.storage : {}), bucket: 'b2' },
    });
    const rotated = await home.run(argv`profiles edit keeps --api-key-stdin --no-verify`, {
      input: canary,
    });
    expect(rotated.code).toBe(0);
    expect(rotated.stdout + rotated.stderr).not.toContain(canary);
    expect(await stored('keeps')).toMatchObject({ apiKey: canary, storage: { bucket: 'b2' } });
    const refused = await home.run`profiles edit keeps --base-url ${sandbox.baseUrl}/`;
    expect(refused.code).toBe(3);
    expect(refused.stderr).not.toContain(canary);
    expect((await home.run`profiles edit nobody --bucket b`).code).toBe(2);
  });

  it('are chosen by flag, then environment, then the current one; never guessed', async () => {
    await add('acme');
    await add('second');
    const show = async (args: string[], env: Record<string, string> = {}) =>
      home.object(argv`profiles show ${args}`, { env });
    const [flag, environment, current, url] = [
      await show(['-p', 'second'], { ESIGN_PROFILE: 'acme' }),
      await show([], { ESIGN_PROFILE: 'second' }),
      await show(['acme', '--base-url', 'http://127.0.0.1:7/v1'], {
        ESIGN_BASE_URL: 'http://127.0.0.1:8/v1',
      }),
      await show([], {
        ESIGN_PROFILE: 'second',
        ESIGN_BASE_URL: 'http://127.0.0.1:8/v1',
        ESIGN_TIMEOUT: '3s',
      }),
    ];
    expect(flag).toMatchObject({ profile: { value: 'second', source: 'flag' } });
    expect(environment).toMatchObject({ profile: { value: 'second', source: 'environment' } });
    expect(current).toMatchObject({ baseUrl: { value: 'http://127.0.0.1:7/v1', source: 'flag' } });
    expect(url).toMatchObject({
      baseUrl: { value: 'http://127.0.0.1:8/v1', source: 'environment' },
      timeoutMs: { value: 3_000, source: 'environment' },
      apiKey: { source: 'profile' },
    });
    const [both, unknown, time] = [
      await home.run(argv`templates list -p second --json`, { env: { ESIGN_API_KEY: canary } }),
      await home.run`templates list -p scond --json`,
      await home.run`templates list -p second --timeout soon --json`,
    ];
    for (const one of [both, unknown, time]) {
      expect(one.code).toBe(2);
      expect(reportedError(one)).toMatchObject({ code: 'USAGE', exitCode: 2 });
    }
    expect(both.stdout + both.stderr).not.toContain(canary);
  });

  it('send their key only to their own address', async () => {
    await add('acme');
    await add('second');
    const elsewhere = await startServer((_request, response) => json(response, 200, { data: [] }));
    const url = `${elsewhere.origin}/api/v1`;
    const mixtures = [
      { ESIGN_BASE_URL: url },
      { ESIGN_API_KEY: canary },
      { ESIGN_API_KEY: canary, ESIGN_PROFILE: 'second' },
    ];
    for (const env of mixtures) {
      const run = await home.run(argv`templates list --json`, { env: { ESIGN_PROFILE: 'acme', ...env } });
      expect([run.code, run.stdout]).toEqual([2, '']);
      expect(reportedError(run)).toMatchObject({
        code: 'USAGE',
        hint: expect.stringContaining('--base-url') as unknown,
      });
    }
    expect(elsewhere.seen).toEqual([]);
    const explicit = await home.run`templates list -p acme --base-url ${url}`;
    expect([explicit.code, elsewhere.seen[0]?.headers.authorization]).toEqual([
      0,
      `Bearer ${sandbox.apiKey}`,
    ]);
    const alone = { ESIGN_BASE_URL: url, ESIGN_API_KEY: canary };
    expect((await home.run(argv`templates list`, { env: alone })).code).toBe(0);
    expect(elsewhere.seen[1]?.headers.authorization).toBe(`Bearer ${canary}`);
    await elsewhere.close();
  });

  it('in an invalid file are reported with its path, by every command, and the file is left unchanged', async () => {
    const other = new Home();
    const file = other.path('config', 'profiles.json');
    await mkdir(other.path('config'));
    for (const broken of ['{"profiles": {"a": ', '[]', '{"profiles":{"a":{"baseUrl":5}}}', '']) {
      await writeFile(file, broken);
      const given = ['--base-url', 'https://x.example/v1', '--api-key-stdin', '--no-verify'];
      const runs = [
        await other.run`profiles list --json`,
        await other.run(argv`profiles add b ${given} --json`, { input: canary }),
        await other.run`envelopes get env_1 --json`,
      ];
      for (const run of runs) {
        expect(run.code).toBe(2);
        expect(reportedError(run)).toMatchObject({
          code: 'USAGE',
          message: expect.stringContaining(file) as unknown,
        });
      }
      expect(await readFile(file, 'utf8')).toBe(broken);
    }
    const env = { ESIGN_BASE_URL: sandbox.baseUrl, ESIGN_API_KEY: sandbox.apiKey };
    expect((await other.run(argv`templates list -q`, { env })).code).toBe(0);
    await other.close();
  });

  it('have unique names', async () => {
    await add('acme');
    const runs = await Promise.all(['acme', '../evil', ''].map((name) => add(name, '--json')));
    expect(runs.map((one) => one.code)).toEqual([2, 2, 2]);
    for (const one of runs) expect(reportedError(one).code).toBe('USAGE');
    expect((await add('__proto__', '--json')).code).not.toBe(1);
    expect((await home.run`profiles use toString --json`).code).toBe(2);
  });

  it('keep all ten when ten are added at the same time', async () => {
    const other = new Home();
    const names = Array.from({ length: 10 }, (_, i) => `p${i}`);
    const runs = await Promise.all(
      names.map((name) =>
        other.run(
          ['profiles', 'add', name, '--base-url', 'https://x.example/v1', '--api-key-stdin', '--no-verify'],
          { input: canary },
        ),
      ),
    );
    expect(runs.map((one) => one.code)).toEqual(names.map(() => 0));
    expect((await other.run`profiles list -q`).stdout.trim().split('\n').sort()).toEqual(names);
    await other.close();
  });

  it('are never stored with plain http to another host without an explicit flag', async () => {
    const args = [
      'profiles',
      'add',
      'plain',
      '--base-url',
      'http://api.example.com/v1',
      '--api-key-stdin',
      '--no-verify',
    ];
    const refused = await home.run(args, { input: canary });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('unencrypted');
    expect((await home.run(argv`${args} --insecure-http`, { input: canary })).code).toBe(0);
  });
});
