import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { COMMAND, Home } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { openScreen, type Screen } from '../support/pty.ts';
import { json } from '../support/server.ts';

const DOWN = '\u001b[B';
const key = 'sk_canary_0123456789abcdef';
let home: Home;

beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

function run(args: string[], env: Record<string, string> = {}): Screen {
  const [file, ...before] = COMMAND;
  return openScreen(file, [...before, ...args], { env: { ...home.env, ...env } });
}

const store = () => readFile(home.path('config', 'profiles.json'), 'utf8');

async function add(name: string): Promise<void> {
  const words = argv`profiles add ${name} --base-url https://api.example.com/api/v1 --api-key-file - --no-verify`;
  expect((await home.run(words, { input: key })).code).toBe(0);
}

describe('prompts on a terminal', () => {
  it('read the key without echo, and store it', async () => {
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

  it('accept a pasted key as one line, whatever surrounds it', async () => {
    const add = ['profiles', 'add', 'pasted', '--base-url', 'https://api.example.com/api/v1', '--no-verify'];
    const twoLines = run(add);
    await twoLines.shows('API key:');
    twoLines.type(`\u001b[200~${key}\nsecond line\n\u001b[201~\r`);
    expect((await twoLines.ended).code).toBe(2);
    await twoLines.shows('must not contain spaces or line breaks');
    const screen = run(add);
    await screen.shows('API key:');
    screen.resize(50, 20);
    screen.type(`\u001b[200~ ${key}\r\n\u001b[201~`);
    screen.type('\r');
    expect((await screen.ended).code).toBe(0);
    expect(screen.text()).not.toContain('0123456789abcdef');
    expect(await store()).toContain(`"apiKey": "${key}"\n\t\t}\n\t}`);
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('store nothing without a key: %s', async (_, keys) => {
    await add('acme');
    const screen = run(['profiles', 'add', 'left', '--base-url', 'https://api.example.com/api/v1']);
    await screen.shows('API key:');
    screen.type(`sk_half${keys}`);
    expect(await screen.ended).toMatchObject({ signal: 2 });
    expect(await store()).not.toContain('left');
  });

  it('list the profiles, with the current one first', async () => {
    await add('acme');
    await add('second');
    const screen = run(['profiles', 'use']);
    await screen.shows('Which profile?');
    await screen.shows('❯ acme');
    screen.resize(60, 24);
    screen.type(`${DOWN}`);
    await screen.shows('❯ second');
    screen.type('\r');
    expect((await screen.ended).code).toBe(0);
    await screen.shows('second is now the current profile.');
    const again = run(['profiles', 'use']);
    await again.shows('❯ second');
    again.type('\u0003');
    expect(await again.ended).toMatchObject({ signal: 2 });
  });

  it("email several people only after a yes; pasted text and Enter don't count", async () => {
    const { server, env } = await fakeService(({ path }, response) =>
      json(response, 200, { data: { id: path.split('/').at(-1), status: 'SENT' } }),
    );
    const keys = ['\r', '\u001b[200~y\nyes\n\u001b[201~\r', '\u0003'];
    for (const [index, typed] of keys.entries()) {
      const screen = run(['envelopes', 'remind', 'env_1', 'env_2'], env);
      await screen.shows('for 2 envelopes?');
      if (index === 0) screen.resize(40, 20);
      screen.type(typed);
      const { code, signal } = await screen.ended;
      expect(index === 2 ? signal : code).toBe(2);
      if (index < 2) await screen.shows('Not confirmed; nothing was');
    }
    expect(server.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
    await server.close();
  });

  it('remove nothing on Enter, because no is the default', async () => {
    await add('acme');
    const screen = run(['profiles', 'remove', 'acme']);
    await screen.shows('Remove acme and its key?');
    screen.type('\r');
    expect((await screen.ended).code).toBe(2);
    await screen.shows('nothing was removed');
    expect(await store()).toContain(key);
  });

  it('exit by SIGINT on Ctrl-C and change nothing', async () => {
    await add('acme');
    const screen = run(['profiles', 'remove', 'acme']);
    await screen.shows('Remove acme and its key?');
    screen.type('\u0003');
    expect(await screen.ended).toMatchObject({ signal: 2 });
    expect(await store()).toContain(key);
  });

  it('are disabled with --no-input and in CI', async () => {
    for (const [args, env] of [
      [['--no-input'], {}],
      [[], { CI: 'true' }],
    ] as const) {
      const screen = run(['profiles', 'add', 'other', '--base-url', 'https://x.example/v1', ...args], {
        ...env,
      });
      expect((await screen.ended).code).toBe(2);
      await screen.shows('no terminal is available');
    }
  });

  it('remove the profile on yes', async () => {
    await add('acme');
    const screen = run(['profiles', 'remove', 'acme']);
    await screen.shows('Remove acme and its key?');
    screen.type('y\r');
    expect((await screen.ended).code).toBe(0);
    expect(await store()).not.toContain('acme');
  });
});
