import { mkdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isRecord } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, PACKAGE, type Sandbox } from '../support/cli.ts';
import { type Keyring, needsKeychain, startKeyring } from '../support/keyring.ts';

// The keychain's native module uses the first session bus of a process for its whole lifetime.
const home = new Home({}, { inProcess: false });
let sandbox: Sandbox;
let keyring: Keyring | undefined;

beforeAll(async () => {
  sandbox = await home.sandbox(['--no-save-profile']);
  await mkdir(home.path('keyring'), { mode: 0o700 });
  if (!needsKeychain.skip) keyring = await startKeyring(home.path('keyring'));
});
afterAll(() => {
  keyring?.close();
  return home.close();
});

const add = (name: string, env?: Keyring['env']) =>
  home.run(argv`profiles add ${name} --base-url ${sandbox.baseUrl} --api-key-stdin --keychain`, {
    input: sandbox.apiKey,
    ...(env ? { env } : {}),
  });
const storeSchema = z.object({
  profiles: z.record(z.string(), z.looseObject({ apiKeyKeychain: z.optional(z.string()) })),
});
const file = () => readFile(home.path('config', 'profiles.json'), 'utf8');
/** The account in the keychain that holds the key of a profile. */
const accountOf = async (name: string) => {
  const { profiles } = storeSchema.parse(JSON.parse(await file()));
  return profiles[name]?.apiKeyKeychain ?? 'none';
};
const keptIn = async (name: string) => {
  const { apiKey } = await home.object`profiles show ${name}`;
  return isRecord(apiKey) ? apiKey.in : undefined;
};

describe('without a keychain', () => {
  it('stores the key in the file, and reports this', async () => {
    const { code, stderr, stdout } = await add('plain');
    expect(code).toBe(0);
    expect(stderr).toContain('keychain');
    expect(stderr).toContain('the profiles file');
    expect(stdout + stderr).not.toContain(sandbox.apiKey);
    expect(await keptIn('plain')).toBe('file');
    expect((await home.run`templates list -q -p plain`).code).toBe(0);
  });
});

// The standalone executable contains no native modules (docs/packaging.md).
describe.skipIf(PACKAGE === undefined)('the keychain', needsKeychain, () => {
  const using = (args: string[], input = '') => home.run(args, { env: keyring?.env ?? {}, input });

  it('stores the key instead of the file, and commands find it', async () => {
    const keysInFile = async () => (await file().catch(() => '')).split(sandbox.apiKey).length;
    const before = await keysInFile();
    const { code, stderr } = await add('kept', keyring?.env);
    expect([code, stderr]).toEqual([0, '']);
    expect(await keptIn('kept')).toBe('keychain');
    expect(await keysInFile()).toBe(before);
    expect((await using(['templates', 'list', '-q', '-p', 'kept'])).stdout).toContain('tmpl_');
    expect((await using(['profiles', 'show', 'kept'])).stdout).toContain('in the keychain');
  });

  it("is reported with a fix and exit code 2 if it doesn't respond", async () => {
    await add('silent', keyring?.env);
    const { code, stderr } = await home.run`templates list -p silent`;
    expect(code).toBe(2);
    expect(stderr).toContain('keychain');
    expect(stderr).toContain('ESIGN_API_KEY');
  });

  it('moves the key to the file and back', { tags: ['full'] }, async () => {
    await add('moved', keyring?.env);
    expect((await using(['profiles', 'edit', 'moved', '--no-keychain'])).code).toBe(0);
    expect(await keptIn('moved')).toBe('file');
    expect((await home.run`templates list -q -p moved`).code).toBe(0);
    expect((await using(['profiles', 'edit', 'moved', '--keychain'])).code).toBe(0);
    expect(await keptIn('moved')).toBe('keychain');
    // A new key stays where the old one was.
    const edited = await using(['profiles', 'edit', 'moved', '--api-key-stdin'], sandbox.apiKey);
    expect(edited.code).toBe(0);
    expect(await keptIn('moved')).toBe('keychain');
    expect((await using(['templates', 'list', '-q', '-p', 'moved'])).code).toBe(0);
  });

  it('deletes the key with the profile', async () => {
    await add('removed', keyring?.env);
    const account = await accountOf('removed');
    expect((await using(['profiles', 'remove', 'removed', '--yes'])).code).toBe(0);
    const { readFromKeychain } = await import('../../src/profiles/key-storage.ts');
    const before = process.env.DBUS_SESSION_BUS_ADDRESS;
    process.env.DBUS_SESSION_BUS_ADDRESS = keyring?.env.DBUS_SESSION_BUS_ADDRESS;
    try {
      await expect(readFromKeychain(account)).rejects.toThrow('in the keychain');
    } finally {
      if (before === undefined) delete process.env.DBUS_SESSION_BUS_ADDRESS;
      else process.env.DBUS_SESSION_BUS_ADDRESS = before;
    }
  });
});
