import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../support/cli.ts';
import { openScreen, type Screen } from '../support/pty.ts';

const key = 'sk_canary_0123456789abcdef';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-prompts-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function run(args: string[], env: Record<string, string> = {}): Screen {
  const own = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ESIGN_CONFIG_DIR: folder,
    ESIGN_STATE_DIR: folder,
    ...env,
  };
  const [file, ...before] = COMMAND;
  return openScreen(file, [...before, ...args], { env: own });
}

const store = () => readFile(join(folder, 'profiles.json'), 'utf8');

describe('questions on a terminal', () => {
  it('asks for the key, hidden, and stores it', async () => {
    const screen = run([
      'profiles',
      'add',
      'acme',
      '--base-url',
      'https://api.example.com/api/v1',
      '--no-verify',
    ]);
    await screen.shows('API key:');
    screen.type(`${key}\r`);
    expect(await screen.ended).toEqual({ code: 0, signal: undefined });
    await screen.shows('sk_canar…');
    expect(screen.text()).not.toContain('0123456789abcdef');
    expect(await store()).toContain(key);
  });

  it('removes nothing on a plain Enter: no is the default', async () => {
    const screen = run(['profiles', 'remove', 'acme']);
    await screen.shows('Remove acme and its key?');
    screen.type('\r');
    expect((await screen.ended).code).toBe(2);
    await screen.shows('nothing was removed');
    expect(await store()).toContain(key);
  });

  it('dies by SIGINT on Ctrl-C and changes nothing', async () => {
    const screen = run(['profiles', 'remove', 'acme']);
    await screen.shows('Remove acme and its key?');
    screen.type('\u0003');
    expect(await screen.ended).toMatchObject({ signal: 2 });
    expect(await store()).toContain(key);
  });

  it('asks nothing with --no-input or in CI', async () => {
    for (const [args, env] of [
      [['--no-input'], {}],
      [[], { CI: 'true' }],
    ] as const) {
      const screen = run(['profiles', 'add', 'other', '--base-url', 'https://x.example/v1', ...args], {
        ...env,
      });
      expect((await screen.ended).code).toBe(2);
      await screen.shows('nobody to ask');
    }
  });

  it('removes on yes', async () => {
    const screen = run(['profiles', 'remove', 'acme']);
    await screen.shows('Remove acme and its key?');
    screen.type('y\r');
    expect((await screen.ended).code).toBe(0);
    expect(await store()).not.toContain(key);
  });
});
