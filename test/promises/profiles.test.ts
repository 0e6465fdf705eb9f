import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, reportedError, type Sandbox } from '../support/cli.ts';
import { isPrivate } from '../support/private.ts';
import { json, startServer } from '../support/server.ts';

const service = new Home();
let home: Home;
const canary = 'sk_canary_0123456789abcdef';
const pin = 'ab'.repeat(32);
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await service.sandbox([], { hasProfile: false });
});
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

const add = (name: string, ...args: string[]) =>
  home.run(argv`profiles add ${name} --base-url ${sandbox.baseUrl} --api-key-file - ${args}`, {
    input: `${sandbox.apiKey}\n`,
  });

/** Adds a profile that is never used, with another key and without a check. */
const addUnchecked = (name: string, url: string, ...args: string[]) =>
  home.run(argv`profiles add ${name} --base-url ${url} --api-key-file - --no-verify --json ${args}`, {
    input: canary,
  });

/** A profile as stored in the file. */
async function stored(name: string): Promise<Record<string, unknown>> {
  const file = parseJson(await readFile(home.path('config', 'profiles.json'), 'utf8'));
  const profile = isRecord(file) && isRecord(file.profiles) ? file.profiles[name] : undefined;
  return isRecord(profile) ? profile : {};
}

describe('profiles add', () => {
  it('stores the profile in a private file and makes the first one current', async () => {
    const { code, stdout } = await add('acme', '--bucket', 'contracts', '--region', 'eu-central-1');
    expect([code, stdout.split('\n')[0]]).toEqual([0, 'acme (current)']);
    expect(stdout).not.toContain(sandbox.apiKey);
    expect(isPrivate(home.path('config', 'profiles.json'))).toBe(true);
    expect(isPrivate(home.path('config'))).toBe(true);
    await add('second');
    expect(await home.json`profiles list`).toMatchObject([
      { name: 'acme', current: true },
      { name: 'second' },
    ]);
    expect((await home.run`templates list`).code).toBe(0);
  });

  it('checks the key with one read, and stores nothing if it is refused', async () => {
    const server = await startServer((_, response) =>
      json(response, 401, { error: { code: 'UNAUTHORIZED', message: 'no' } }),
    );
    const args = ['profiles', 'add', 'a', '--base-url', `${server.origin}/api/v1`, '--api-key-file', '-'];
    const refused = await home.run(args, { input: canary });
    expect(server.seen.map(({ method }) => method)).toEqual(['GET']);
    expect([refused.code, refused.stderr.includes(canary)]).toEqual([3, false]);
    expect(refused.stderr).toContain('Nothing was stored. Check the key and run `esign profiles add a');
    expect(await home.json`profiles list`).toEqual([]);
    expect((await home.run([...args, '--no-verify'], { input: canary })).code).toBe(0);
    expect(server.seen).toHaveLength(1);
  });

  it('suggests the likely base URL if there is no API at the one given', async () => {
    const { origin } = new URL(sandbox.baseUrl);
    const args = ['profiles', 'add', 'acme', '--base-url', origin, '--api-key-file', '-', '--json'];
    const missing = await home.run(args, { input: sandbox.apiKey });
    expect(missing.code).toBe(8);
    expect(reportedError(missing)).toMatchObject({
      code: 'BAD_RESPONSE',
      hint: expect.stringContaining(sandbox.baseUrl) as unknown,
    });
    await writeFile(home.path('key'), sandbox.apiKey);
    const words = `profiles add acme --api-key-file ${home.path('key')} --json`;
    expect(reportedError(await home.run(`${words} --base-url ${origin}`.split(' '))).next).toEqual([
      `esign ${words} --base-url ${sandbox.baseUrl}`,
    ]);
    // Not `profiles show`, which would show another profile.
    const elsewhere = await startServer((_, response) => json(response, 404, {}));
    const url = `${elsewhere.origin}/api/v1`;
    expect(reportedError(await home.run(`${words} --base-url ${url}`.split(' ')))).toMatchObject({
      hint: 'Check the base URL. Nothing was stored.',
      next: [],
    });
    await elsewhere.close();
    expect(await home.json`profiles list`).toEqual([]);
    const env = { ESIGN_BASE_URL: origin, ESIGN_API_KEY: sandbox.apiKey };
    expect((await home.run(argv`envelopes list`, { env })).code).toBe(8);
  });

  it('explains how to store the profile while the service is unreachable', async () => {
    await writeFile(home.path('key'), canary);
    const words = `profiles add later --base-url http://127.0.0.1:9/api/v1 --api-key-file ${home.path('key')} --json`;
    const run = await home.run(words.split(' '));
    expect([run.code, reportedError(run).next]).toEqual([8, [`esign ${words} --no-verify`]]);
    expect(reportedError(run).hint).toContain('Nothing was stored.');
  });

  it('reads the key from a file, the environment, or a command at each use', async () => {
    await writeFile(home.path('key'), `${sandbox.apiKey}\n`);
    const base = ['profiles', 'add'];
    const url = ['--base-url', `${sandbox.baseUrl}/`];
    const codes = [
      await home.run`${base} file ${url} --api-key-file key`,
      await home.run(argv`${base} env ${url}`, { env: { ESIGN_API_KEY: sandbox.apiKey } }),
      await home.run([...base, 'command', ...url, '--api-key-command', `cat ${home.path('key')}`]),
      await home.run`templates list -p command -q`,
    ].map(({ code }) => code);
    expect(codes).toEqual([0, 0, 0, 0]);
    const file = await readFile(home.path('config', 'profiles.json'), 'utf8');
    expect(file.split(sandbox.apiKey)).toHaveLength(3);
  });

  it('refuses names that are taken or unsafe, and plain http to another host', async () => {
    await add('acme');
    for (const name of ['acme', '../evil', '', '__proto__'])
      expect([name, (await addUnchecked(name, sandbox.baseUrl)).code]).toEqual([name, 2]);
    const url = 'http://api.example.com/v1';
    expect(reportedError(await addUnchecked('plain', url)).hint).toContain('--insecure-http');
    expect((await addUnchecked('plain', url, '--insecure-http')).code).toBe(0);
  });
});

describe('a key command', () => {
  it('is shown with any key in it hidden', async () => {
    const command = ['--base-url', sandbox.baseUrl, '--api-key-command', `echo ${sandbox.apiKey}`];
    const shown = [
      await home.run(['profiles', 'add', 'echoed', ...command]),
      await home.run`profiles show echoed`,
      await home.run`profiles list --json`,
      await home.run`doctor -p echoed --json`,
    ].map(({ stdout, stderr }) => stdout + stderr);
    expect(shown.filter((text) => text.includes(sandbox.apiKey))).toEqual([]);
    expect(shown[1]).toContain(`echo ${sandbox.apiKey.slice(0, 8)}…`);
  });

  it.each([`echo ${canary}; exit 1`, 'yes', "printf 'ключ'"])('is refused with 2: %s', async (command) => {
    const args = ['profiles', 'add', 'a', '--base-url', sandbox.baseUrl, '--no-verify'];
    await home.run([...args, '--api-key-command', command]);
    const listed = await home.run`templates list`;
    expect([listed.code, listed.stderr.includes(canary)]).toEqual([2, false]);
  });
});

describe('profiles show', () => {
  it('names the source of every value', async () => {
    await add('acme', '--bucket', 'contracts', '--region', 'eu-central-1', '--no-index');
    await home.run`profiles edit acme --pin ${pin} --sealed-part --max-emails 3`;
    expect(await home.object`profiles show acme`).toMatchObject({
      profile: { value: 'acme', source: 'flag' },
      baseUrl: { value: sandbox.baseUrl, source: 'profile' },
      apiKey: { value: `${sandbox.apiKey.slice(0, 8)}…`, source: 'profile' },
      timeoutMs: { value: 30_000, source: 'default' },
      storage: { bucket: 'contracts', region: 'eu-central-1', source: 'profile' },
      pin: { value: pin, source: 'profile' },
      sealedPart: { value: true, source: 'profile' },
      index: { value: false, source: 'profile' },
      guards: { maxEmails: { value: 3, source: 'profile' } },
    });
    const env = {
      ESIGN_BASE_URL: 'http://127.0.0.1:9/v1',
      ESIGN_API_KEY: canary,
      ESIGN_BUCKET: 'env-bucket',
    };
    const shown = await home.object(argv`profiles show`, { env });
    expect(shown).toMatchObject({
      profile: null,
      baseUrl: { source: 'environment' },
      apiKey: { value: `${canary.slice(0, 8)}…`, source: 'environment' },
      storage: { bucket: 'env-bucket', source: 'environment' },
    });
  });

  it('chooses flag, then environment, then the current profile', async () => {
    await add('acme', '--bucket', 'contracts');
    await add('second');
    const show = async (args: string[], env: Record<string, string> = {}) =>
      home.object(argv`profiles show ${args}`, { env });
    expect(await show(['-p', 'second'], { ESIGN_PROFILE: 'acme' })).toMatchObject({
      profile: { value: 'second', source: 'flag' },
    });
    const env = { ESIGN_PROFILE: 'second', ESIGN_BASE_URL: 'http://127.0.0.1:8/v1', ESIGN_TIMEOUT: '3s' };
    expect(await show([], env)).toMatchObject({
      profile: { value: 'second', source: 'environment' },
      baseUrl: { value: 'http://127.0.0.1:8/v1', source: 'environment' },
      timeoutMs: { value: 3_000, source: 'environment' },
      apiKey: { source: 'profile' },
    });
    expect(await show(['acme', '--base-url', 'http://127.0.0.1:7/v1'], env)).toMatchObject({
      baseUrl: { value: 'http://127.0.0.1:7/v1', source: 'flag' },
      pin: null,
    });
    expect(await show([], { ESIGN_BUCKET: 'other' })).toMatchObject({
      storage: { bucket: 'other', source: 'environment' },
    });
  });
});

describe('a profile', () => {
  it('can be edited, used, and removed', async () => {
    await add('acme', '--bucket', 'contracts', '--region', 'eu-central-1');
    await add('other');
    await home.run(['profiles', 'edit', 'acme', '--endpoint', 'https://minio.example.com', '--region', '']);
    expect(await home.object`profiles show acme`).toMatchObject({
      storage: { bucket: 'contracts', region: null, endpoint: 'https://minio.example.com', pathStyle: true },
    });
    await home.run`profiles use other`;
    expect(await home.json`profiles list`).toMatchObject([
      { current: false },
      { name: 'other', current: true },
    ]);
    expect(await home.run`profiles remove other --dry-run`).toMatchObject({ code: 0 });
    expect((await home.run`profiles remove other --yes`).stdout).toContain('esign profiles use');
    expect((await home.run`templates list`).code).toBe(3);
  });

  it('keeps all other values when it is edited, including secrets', async () => {
    await writeFile(home.path('bucket.secret'), 'canary-bucket-secret-0123\n');
    const storage = ['--bucket', 'b1', '--endpoint', 'http://127.0.0.1:9', '--access-key-id', 'AKID'];
    await add('keeps', ...storage, '--secret-access-key-file', 'bucket.secret');
    const before = await stored('keeps');
    const edited = await home.run`profiles edit keeps --bucket b2 --json`;
    expect(edited.code).toBe(0);
    const rotated = await home.run(argv`profiles edit keeps --api-key-file - --no-verify`, { input: canary });
    expect(rotated.code).toBe(0);
    expect(edited.stdout + edited.stderr + rotated.stdout + rotated.stderr).not.toContain('canary');
    const was = isRecord(before.storage) ? before.storage : {};
    expect(await stored('keeps')).toEqual({ ...before, apiKey: canary, storage: { ...was, bucket: 'b2' } });
  });

  it('keeps the pin of its seal until it is removed or the base URL changes', async () => {
    await add('acme');
    const edit = async (...args: string[]) => {
      const { code } = await home.run(['profiles', 'edit', 'acme', '--no-verify', ...args]);
      const { pin: kept = null, sealedPart = false } = await stored('acme');
      return [code, kept, sealedPart];
    };
    expect(await edit('--pin', 'AB:'.repeat(31).concat('ab'), '--sealed-part')).toEqual([0, pin, true]);
    expect(await edit('--pin', 'abc')).toEqual([2, pin, true]);
    expect(await edit('--no-pin', '--no-sealed-part')).toEqual([0, null, false]);
    await edit('--pin', pin);
    expect(await edit('--base-url', 'https://api.example.com/api/v1')).toEqual([0, null, false]);
  });

  it.each([
    ['profiles edit acme', 'profiles edit acme --api-key-file -'],
    ['profiles add', 'profiles add acme --base-url'],
    ['profiles add other', 'profiles add other --base-url'],
  ])(
    'that is added or edited without a setting exits with 2 and names the command: %s',
    async (line, named) => {
      await add('acme');
      const run = await home.run(line.split(' '));
      expect([run.code, run.stderr]).toEqual([2, expect.stringContaining(`esign ${named}`) as unknown]);
    },
  );

  it('that is not configured is reported by show, with the next command', async () => {
    const run = await home.run`profiles show`;
    expect([run.code, run.stderr]).toEqual([3, expect.stringContaining('esign sandbox start') as unknown]);
  });

  it('is named in the commands of its errors, unless it is the current one', async () => {
    await addUnchecked('first', 'http://127.0.0.1:9/api/v1');
    await add('acme');
    const missing = async (...flags: string[]) =>
      reportedError(await home.run(argv`envelopes get env_none --json ${flags}`)).next;
    expect(await missing('-p', 'acme')).toContain('esign envelopes list --profile acme');
    await home.run`profiles use acme`;
    expect(await missing('-p', 'acme')).toContain('esign envelopes list');
    expect(await missing('--base-url', sandbox.baseUrl)).toContain(
      `esign envelopes list --base-url ${sandbox.baseUrl}`,
    );
    const server = await startServer((_, response) =>
      json(response, 401, { error: { code: 'UNAUTHORIZED', message: 'no' } }),
    );
    await addUnchecked('revoked', `${server.origin}/api/v1`);
    const refused = await home.run`templates list -p revoked`;
    expect(refused.stderr).toContain('The key of profile revoked is wrong, revoked, or expired');
    expect(refused.stderr).toContain('`esign profiles edit revoked --api-key-file -`');
  });

  it('that is unknown exits with 4', async () => {
    await add('acme');
    for (const words of [
      'templates list -p acm',
      'profiles show acm',
      'profiles use toString',
      'profiles edit acm',
      'log -p acm',
      'events list -p acm',
      'listen --port 0 -p acm',
    ])
      expect(reportedError(await home.run([...words.split(' '), '--json']))).toMatchObject({
        code: 'NOT_FOUND',
        exitCode: 4,
        hint: expect.stringContaining('acme') as unknown,
      });
    expect((await home.run`profiles remove acm --yes`).code).toBe(4);
  });

  it('sends its key only to its own base URL, unless --base-url is given', async () => {
    await add('acme');
    const elsewhere = await startServer((_request, response) => json(response, 200, { data: [] }));
    const url = `${elsewhere.origin}/api/v1`;
    const [both, ...mixtures] = [
      await home.run(argv`templates list -p acme --json`, { env: { ESIGN_API_KEY: canary } }),
      await home.run(argv`templates list --json`, { env: { ESIGN_BASE_URL: url } }),
      await home.run(argv`templates list --json`, { env: { ESIGN_API_KEY: canary } }),
    ];
    expect([both.code, elsewhere.seen]).toEqual([2, []]);
    for (const run of mixtures)
      expect(reportedError(run)).toMatchObject({
        exitCode: 2,
        hint: expect.stringContaining('--base-url') as unknown,
      });
    const explicit = await home.run`templates list -p acme --base-url ${url}`;
    const alone = await home.run(argv`templates list`, {
      env: { ESIGN_BASE_URL: url, ESIGN_API_KEY: canary },
    });
    expect([explicit.code, alone.code]).toEqual([0, 0]);
    const keys = elsewhere.seen.map(({ headers }) => headers.authorization);
    expect(keys).toEqual([`Bearer ${sandbox.apiKey}`, `Bearer ${canary}`]);
  });

  it.skipIf(process.platform === 'win32')('in a file that other users can change is not used', async () => {
    const marker = home.path('ran');
    await addUnchecked('acme', sandbox.baseUrl);
    const file = home.path('config', 'profiles.json');
    const text = (await readFile(file, 'utf8')).replace(
      /"apiKey": ".*"/,
      `"apiKeyCommand": "touch ${marker}; echo ${sandbox.apiKey}"`,
    );
    await writeFile(file, text);
    for (const mode of [0o620, 0o602]) {
      await chmod(file, mode);
      for (const words of ['envelopes list', 'profiles edit acme --read-only', 'bulk list']) {
        const run = await home.run(`${words} --json`.split(' '));
        expect(reportedError(run)).toMatchObject({
          exitCode: 2,
          hint: expect.stringContaining('chmod 600') as unknown,
        });
      }
      await expect(stat(marker)).rejects.toThrow('ENOENT');
    }
    await chmod(file, 0o644);
    expect((await home.run`envelopes list`).code).toBe(0);
    expect((await stat(marker)).isFile()).toBe(true);
  });

  it('in an invalid file is reported with its path, and the file is left unchanged', async () => {
    const file = home.path('config', 'profiles.json');
    await mkdir(home.path('config'));
    for (const broken of ['{"profiles": {"a": ', '[]', '{"profiles":{"a":{"baseUrl":5}}}', '']) {
      await writeFile(file, broken);
      for (const run of [
        await home.run`profiles list --json`,
        await addUnchecked('b', 'https://x.example/v1'),
      ])
        expect(reportedError(run)).toMatchObject({
          exitCode: 2,
          message: expect.stringContaining(file) as unknown,
        });
      expect(await readFile(file, 'utf8')).toBe(broken);
    }
    const env = { ESIGN_BASE_URL: sandbox.baseUrl, ESIGN_API_KEY: sandbox.apiKey };
    expect((await home.run(argv`templates list -q`, { env })).code).toBe(0);
  });
});
