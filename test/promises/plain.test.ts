import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND, Home } from '../support/cli.ts';
import { openScreen, type Screen } from '../support/pty.ts';

const home = new Home();
let id: string;

beforeAll(async () => {
  await home.sandbox();
  const create = [
    'envelopes',
    'create',
    '--template',
    'tmpl_nda',
    '--signer',
    'Ada <ada@example.com>',
    '--send',
  ];
  id = String((await home.object(create)).id);
  await home.json`envelopes create --template tmpl_nda --signer 'Bo <bo@example.com>'`;
});
afterAll(() => home.close());

function open(args: string[], env: Record<string, string> = {}): Screen {
  const [file, ...before] = COMMAND;
  return openScreen(file, [...before, ...args], { env: { ...home.env, ...env } });
}

/** Sequences that move the cursor, erase, or switch the screen. */
const MOVES = /\u001b\[[?\d;]*[A-HJKhlsu]/;
const COLOURS = /\u001b\[[\d;]*m/;

describe('progress', () => {
  for (const { name, flags = [], env = {}, tags = ['full'] } of [
    { name: '--no-spinner', flags: ['--no-spinner'], tags: [] },
    { name: 'ESIGN_NO_SPINNER', env: { ESIGN_NO_SPINNER: '1' } },
    { name: 'a dumb terminal', env: { TERM: 'dumb' } },
  ])
    it(`is printed as plain lines with ${name}`, { tags }, async () => {
      const screen = open(['envelopes', 'watch', id, '--timeout', '1s', ...flags], env);
      expect((await screen.ended).code).toBe(124);
      await screen.shows('SENT');
      expect(screen.raw()).not.toMatch(MOVES);
      const asked = open(['envelopes', 'create', '--template', 'tmpl_nda', ...flags], env);
      await asked.shows('Reading templates and recent envelopes\n');
      await asked.shows('? Signer:');
      asked.type('\u0003');
      await asked.ended;
    });

  it('is animated otherwise', async () => {
    const screen = open(['envelopes', 'watch', id, '--timeout', '1s']);
    expect((await screen.ended).code).toBe(124);
    expect(screen.raw()).toMatch(MOVES);
  });
});

const SHOWN = [
  ['envelopes', 'list'],
  ['templates', 'list'],
  ['templates', 'get', 'tmpl_lease'],
  ['profiles', 'list'],
  ['profiles', 'show'],
  ['envelopes', 'summary'],
];

describe('color', () => {
  it('carries no additional information: without it, each page is the same', { tags: ['full'] }, async () => {
    for (const args of [...SHOWN, ['envelopes', 'get', id]]) {
      const [coloured, plain] = await Promise.all(
        [{ FORCE_COLOR: '1' }, { NO_COLOR: '1' }].map(async (env) => {
          const screen = open(args, env);
          expect((await screen.ended).code).toBe(0);
          return screen.raw();
        }),
      );
      const timeless = (text = '') => text.replace(/just now|(\d+|a) seconds? ago/g, 'seconds ago');
      expect(timeless(stripVTControlCharacters(coloured ?? ''))).toBe(timeless(plain));
      expect(plain).not.toMatch(COLOURS);
    }
  });

  it('is used in a pipe if forced, and never against NO_COLOR', async () => {
    const get = ['envelopes', 'get', id];
    expect((await home.run(get)).stdout).not.toMatch(COLOURS);
    expect((await home.run(get, { env: { FORCE_COLOR: '1' } })).stdout).toMatch(COLOURS);
    expect((await home.run(get, { env: { FORCE_COLOR: '0' } })).stdout).not.toMatch(COLOURS);
    const both = await home.run(get, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } });
    expect(`${both.stdout}${both.stderr}`).not.toMatch(COLOURS);
  });

  for (const { name, env, isThere, tags = ['full'] } of [
    { name: 'NO_COLOR', env: { NO_COLOR: '1' }, isThere: false, tags: [] },
    { name: 'both', env: { NO_COLOR: '1', FORCE_COLOR: '1' }, isThere: false },
    { name: 'neither', env: {}, isThere: true },
  ])
    it(`is used in prompts as elsewhere: ${name}`, { tags }, async () => {
      const screen = open(['envelopes', 'create', '--template', 'tmpl_nda'], env);
      await screen.shows('? Signer:');
      screen.type('\u0003');
      await screen.ended;
      expect(COLOURS.test(screen.raw())).toBe(isThere);
      expect(screen.text()).not.toContain('Warning');
    });
});
