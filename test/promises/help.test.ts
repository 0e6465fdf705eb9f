import { afterAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { widthOf } from '../../src/output/text.ts';
import { COMMAND, Home, reportedError } from '../support/cli.ts';
import { openScreen } from '../support/pty.ts';

const home = new Home();
afterAll(() => home.close());

/** The output for a terminal of that width, line by line. */
async function helpAt(columns: number, words: string[]): Promise<string[]> {
  const [file, ...before] = COMMAND;
  const screen = openScreen(file, [...before, ...words, '--help'], {
    env: { ...home.env, NO_COLOR: '1' },
    columns,
    rows: 24,
  });
  await screen.ended;
  return screen.raw().split(/\r?\n/);
}

describe('help and version', () => {
  it('are printed for all common spellings', async () => {
    const said = async (line: string) => (await home.run(line.split(' '))).stdout;
    expect(await said('help envelopes send')).toBe(await said('envelopes send --help'));
    expect(await said('help')).toBe(await said('--help'));
    const version = await said('--version');
    expect(version).toMatch(/^esign-cli\/\d\S* \S+ node-v\S+ (npm|source|executable)\n$/);
    expect([await said('version'), await said('-v')]).toEqual([version, version]);
    const [name, number] = version.split(/[/ ]/);
    expect(parseJson(await said('version --json'))).toMatchObject({ name, version: number });
    expect(await said('--version --json')).toBe(await said('version --json'));
  });
});

describe('help as JSON', () => {
  it('is one line of JSON, for every spelling', async () => {
    const said = async (line: string) => (await home.run(line.split(' '))).stdout;
    const leaf = await said('help --json envelopes send');
    expect(parseJson(leaf)).toMatchObject({ name: 'envelopes send', effects: 'mails' });
    expect(leaf.trimEnd()).not.toContain('\n');
    expect(await said('envelopes send --help --json')).toBe(leaf);
    expect(await said('envelopes send env_1 -h --json')).toBe(leaf);
    expect(await said('help envelopes send --json')).toBe(leaf);
    const all = await said('help --json');
    expect(parseJson(all)).toMatchObject({ name: 'esign', commands: { 'envelopes cancel': 'mails' } });
    expect(await said('--help --json')).toBe(all);
  });

  it.each(['help --json envelopes nope', 'nope --help --json', 'schema nope --json'])(
    'reports that there is no such command: %s',
    async (line) => {
      const finished = await home.run(line.split(' '));
      expect([finished.code, reportedError(finished).code]).toEqual([2, 'USAGE']);
    },
  );

  it('treats it as a normal argument after --', async () => {
    const { stdout } = await home.run`envelopes get --json -- --help`;
    expect(stdout).toBe('');
  });
});

describe('help on a terminal', () => {
  it.each([
    [80, []],
    [80, ['envelopes', 'create']],
    [120, ['envelopes', 'create']],
    [120, ['bulk']],
  ])('fits in %i columns: esign %j', async (columns, words) => {
    const lines = await helpAt(columns, words);
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
  });

  it('uses the available width', async () => {
    const [narrow, wide] = [
      await helpAt(80, ['envelopes', 'create']),
      await helpAt(120, ['envelopes', 'create']),
    ];
    expect(wide.length).toBeLessThan(narrow.length);
    expect(wide.some((line) => widthOf(line) > 80)).toBe(true);
  });
});
