import { readFile, stat, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, type Sandbox } from '../support/cli.ts';

const home = new Home();
const canary = 'sk_canary_0123456789abcdef';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await home.sandbox(['--no-save-profile']);
});
afterAll(() => home.close());

const add = (name: string, ...args: string[]) =>
  home.run(['profiles', 'add', name, '--base-url', sandbox.baseUrl, '--api-key-stdin', ...args], {
    input: `${sandbox.apiKey}\n`,
  });

describe('profiles', () => {
  it('are added after the key has been checked; the first is current; the file is private', async () => {
    const { code, stdout } = await add('acme', '--bucket', 'contracts', '--region', 'eu-central-1');
    expect(code).toBe(0);
    expect(stdout).toContain('acme (current)');
    expect(stdout).not.toContain(sandbox.apiKey);
    expect((await stat(home.path('config', 'profiles.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(home.path('config'))).mode & 0o777).toBe(0o700);
    expect((await home.run(['templates', 'list'])).code).toBe(0);
  });

  it('are not stored when the key is refused', async () => {
    const refused = await home.run(
      ['profiles', 'add', 'wrong', '--base-url', sandbox.baseUrl, '--api-key-stdin'],
      { input: canary },
    );
    expect(refused.code).toBe(3);
    expect(refused.stderr).not.toContain(canary);
    expect((await home.run(['profiles', 'list', '-q'])).stdout).toBe('acme\n');
  });

  it('take the key from a file, the environment or a command run at each use', async () => {
    await writeFile(home.path('key'), `${sandbox.apiKey}\n`);
    const base = ['profiles', 'add'];
    const url = ['--base-url', `${sandbox.baseUrl}/`];
    const [file, env, command] = await Promise.all([
      home.run([...base, 'file', ...url, '--api-key-file', 'key']),
      home.run([...base, 'env', ...url], { env: { ESIGN_API_KEY: sandbox.apiKey } }),
      home.run([...base, 'command', ...url, '--api-key-command', `cat ${home.path('key')}`]),
    ]);
    expect([file.code, env.code, command.code]).toEqual([0, 0, 0]);
    expect((await home.run(['templates', 'list', '-p', 'command', '-q'])).code).toBe(0);
    const stored = await readFile(home.path('config', 'profiles.json'), 'utf8');
    expect(stored.split(sandbox.apiKey)).toHaveLength(4);
  });

  it('say where each value comes from', async () => {
    const shown = await home.object(['profiles', 'show', 'acme']);
    expect(shown).toMatchObject({
      profile: { value: 'acme', source: 'flag' },
      baseUrl: { value: sandbox.baseUrl, source: 'profile' },
      apiKey: { value: `${sandbox.apiKey.slice(0, 8)}…`, source: 'profile' },
      storage: { bucket: 'contracts', region: 'eu-central-1' },
    });
    const env = { ESIGN_BASE_URL: 'http://127.0.0.1:9/v1', ESIGN_API_KEY: canary };
    const { stdout } = await home.run(['profiles', 'show', '--json'], { env });
    expect(stdout).toContain('"environment"');
    expect(stdout).not.toContain(canary);
  });

  it('are edited, used and removed', async () => {
    await home.run(['profiles', 'edit', 'acme', '--endpoint', 'https://minio.example.com', '--region', '']);
    expect(await home.object(['profiles', 'show', 'acme'])).toMatchObject({
      storage: { bucket: 'contracts', region: null, endpoint: 'https://minio.example.com', pathStyle: true },
    });
    await home.run(['profiles', 'use', 'file']);
    expect((await home.run(['profiles', 'list', '--fields', 'name,current'])).stdout).toContain('file\ttrue');
    expect((await home.run(['profiles', 'remove', 'file'])).stdout).toContain('Choose another');
    expect((await home.run(['templates', 'list'])).code).toBe(3);
    expect((await home.run(['profiles', 'remove', 'file'])).code).toBe(2);
  });

  it('lose none of ten added at once', async () => {
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
    expect((await other.run(['profiles', 'list', '-q'])).stdout.trim().split('\n').sort()).toEqual(names);
    await other.close();
  });

  it('are never stored with plain http to another machine, unless told so', async () => {
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
    expect((await home.run([...args, '--insecure-http'], { input: canary })).code).toBe(0);
  });
});
