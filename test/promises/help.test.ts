import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { MEANINGS } from '../../src/cli/boot/newcomer-words.ts';
import { readCommandTree } from '../../src/cli/completion/command-tree.ts';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { widthOf } from '../../src/output/text.ts';
import { Home, reportedError } from '../support/cli.ts';
import { commands } from '../support/every-command.ts';
import { openCommand } from '../support/pty.ts';

const home = new Home();
const all = await commands();
const described = Object.entries(readCommandTree(join(import.meta.dirname, '../..')).commands);
const stdoutOf = async (line: string) => (await home.run(line.split(' '))).stdout;
const keysOf = (value: unknown) => (isRecord(value) ? Object.keys(value) : []);

describe('help and version', () => {
  it('are printed for all common spellings', async () => {
    expect(await stdoutOf('help envelopes send')).toBe(await stdoutOf('envelopes send --help'));
    expect(await stdoutOf('help')).toBe(await stdoutOf('--help'));
    const version = await stdoutOf('--version');
    expect(version).toMatch(/^esign-cli\/\d\S* \S+ node-v\S+ (npm|source|executable)\n$/);
    expect([await stdoutOf('version'), await stdoutOf('-v')]).toEqual([version, version]);
    const [name, number] = version.split(/[/ ]/);
    expect(parseJson(await stdoutOf('version --json'))).toMatchObject({ name, version: number });
  });

  it.each([80, 120])('fit on a terminal with %i columns, and use its width', async (columns) => {
    const screen = openCommand(home, ['envelopes', 'create', '--help'], { env: { NO_COLOR: '1' }, columns });
    await screen.ended;
    const widths = screen
      .raw()
      .split(/\r?\n/)
      .map((line) => widthOf(line));
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
    expect(Math.max(...widths)).toBeGreaterThan(columns - 20);
  });
});

describe('help', () => {
  it('fits on a terminal with 24 lines, and names every command people use', async () => {
    const root = await stdoutOf('--help');
    expect(root.trimEnd().split('\n').length).toBeLessThanOrEqual(22);
    const [daily = '', more = ''] = root.split('MORE');
    const words = (text: string) => text.split(/\W+/);
    expect(words(daily)).toEqual(
      expect.arrayContaining('demo templates envelopes bulk find late listen doctor profiles'.split(' ')),
    );
    const topics = all.map(([id]) => id.split(':')[0] ?? '');
    expect(words(daily + more)).toEqual(expect.arrayContaining([...new Set(topics)]));
  });

  it.each(['flags', 'filters', 'environment', 'exit-codes'])('has the topic %s', async (topic) => {
    const page = await stdoutOf(`help ${topic}`);
    expect(page).toBe(await stdoutOf(`${topic} --help`));
    expect(await stdoutOf('help')).toContain(topic);
  });

  it.each(described)('has one line for the flags that commands share: %s', async (id, { flags }) => {
    const page = await stdoutOf(`${id.replaceAll(':', ' ')} --help`);
    expect(page).toContain('see `esign help flags`');
    expect(page).not.toMatch(/^ +--(no-wait|expiring-in)\b/m);
    const shared = ['FILTER', 'OUTPUT', 'GLOBAL'];
    const topic = await stdoutOf('help flags');
    for (const { name, helpGroup = '' } of Object.values(flags))
      expect(shared.includes(helpGroup) ? topic : page, name).toMatch(new RegExp(`--(\\[no-\\])?${name}\\b`));
  });

  it('has a page with every environment variable that the program reads', async () => {
    const source = join(import.meta.dirname, '../../src');
    const files = (await readdir(source, { recursive: true })).filter((file) => file.endsWith('.ts'));
    const read = new Set<string>();
    for (const file of files)
      for (const [, name = ''] of (await readFile(join(source, file), 'utf8')).matchAll(
        /env\.(ESIGN_[A-Z_]+)/g,
      ))
        read.add(name);
    // Set by `sandbox exec`, or internal.
    for (const name of ['ESIGN_SANDBOX_URL', 'ESIGN_CONTENT_TYPE', 'ESIGN_STOP_WITH_STDIN'])
      read.delete(name);
    const page = await stdoutOf('help environment');
    expect([...read].filter((name) => !page.includes(name))).toEqual([]);
    expect(page).toContain('ESIGN_API_KEY');
  });

  it.each(described)('has an example that works in bash, zsh, and PowerShell: %s', (_, { examples }) => {
    const portable = /^(?:[\w./:=@+-]+|(?:[\w.@-]+=)?(?:'[^'"]*'|"[^"$`\\!]*"))$/;
    const isPortable = (line: string) =>
      line.length <= 76 &&
      (line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).every((one) => portable.test(one));
    const lines = [examples].flat().map((one) => String(one).replaceAll('<%= config.bin %>', 'esign'));
    expect(lines[0]).toSatisfy(isPortable);
  });
});

describe('help as JSON', () => {
  it('is one line of JSON, for every spelling', async () => {
    const command = await stdoutOf('help --json envelopes send');
    expect(parseJson(command)).toMatchObject({ name: 'envelopes send', effects: 'mails' });
    expect(command.trimEnd()).not.toContain('\n');
    for (const line of ['envelopes send --help --json', 'envelopes send env_1 -h --json'])
      expect(await stdoutOf(line)).toBe(command);
    const program = await stdoutOf('help --json');
    expect(parseJson(program)).toMatchObject({ name: 'esign', commands: { 'envelopes cancel': 'mails' } });
    expect(await stdoutOf('--help --json')).toBe(program);
    expect(parseJson(await stdoutOf('templates --json'))).toMatchObject({
      commands: { 'templates get': 'reads', 'templates list': 'reads' },
    });
  });

  it.each(all)(
    'describes %s: every flag, its exit codes, its effect, and its output',
    async (id, { flags }) => {
      const described = parseJson(await stdoutOf(`${id.replaceAll(':', ' ')} --help --json`));
      if (!isRecord(described)) throw new Error(`${id} is not described`);
      const shown = Object.keys(flags).filter((name) => flags[name]?.hidden !== true);
      expect(keysOf(described.flags).sort()).toEqual(shown.sort());
      expect(keysOf(described.exitCodes)).toEqual(expect.arrayContaining(['0', '1', '2', '130', '143']));
      expect(described.effects).toMatch(/^(reads|writes|mails|deletes|local)$/);
      const { outputSchema } = described;
      new Ajv2020({ allowUnionTypes: true, keywords: ['x-form'] }).compile(
        isRecord(outputSchema) ? outputSchema : { type: 'missing' },
      );
    },
  );

  it.each(['help --json envelopes nope', 'nope --help --json'])(
    'reports that there is no such command: %s',
    async (line) => {
      const finished = await home.run(line.split(' '));
      expect([finished.code, reportedError(finished).code]).toEqual([2, 'USAGE']);
    },
  );

  it.each(['flags', 'filters', 'environment', 'exit-codes'])('has the topic %s', async (topic) => {
    expect(parseJson(await stdoutOf(`help ${topic} --json`))).toMatchObject({ name: topic });
  });

  it('is not printed for --help after --', async () => {
    expect((await home.run`envelopes get --json -- --help`).stdout).toBe('');
  });
});

describe('a word from another tool', () => {
  it.each([
    ['envelope ls --help', 'envelopes list --help'],
    ['template show --help', 'templates get --help'],
    ['login --help', 'profiles add --help'],
    ['get --help', 'envelopes get --help'],
    ['list --help', 'envelopes list --help'],
    ['search --help', 'find --help'],
    ['help whoami', 'profiles show --help'],
  ])('runs our command: %s', async (line, ours) => {
    expect(await stdoutOf(line)).toBe(await stdoutOf(ours));
  });

  it.each([
    ['list templates --help', 'templates list --help'],
    ['show template --help', 'templates get --help'],
    ['get profile --help', 'profiles show --help'],
  ])('runs our command if the verb stands first: %s', async (line, ours) => {
    expect(await stdoutOf(line)).toBe(await stdoutOf(ours));
  });

  it.each([
    ['envelopes edit', 'envelopes replace ID`'],
    ['void', 'envelopes cancel ID`'],
    ['completion bash', 'autocomplete bash`'],
    ['envelopes sned', 'envelopes send`'],
    ['templates lst', 'templates list`'],
    ['envelops lits', 'envelopes list`'],
    ['remind env_1', 'envelopes remind env_1`'],
    ['void env_1 --reason x', 'envelopes cancel env_1 --reason x`'],
    ['envelopes edit env_1', 'envelopes replace env_1`'],
    ['create envelope', 'envelopes create`'],
    ['cancel envelope env_1', 'envelopes cancel env_1`'],
    ['envelopes status env_1', 'envelopes get env_1`'],
    ['status env_1', 'envelopes get env_1`'],
    ['status', 'report`'],
    ['send', 'envelopes create --send`'],
    ['webhooks listen --port 3000', 'listen --port 3000`'],
    ['webhook list', 'events list`'],
    ['profiles switch acme', 'profiles use acme`'],
    ['profile delete acme', 'profiles remove acme`'],
    ['auth login', 'profiles add`'],
    ['auth status', 'profiles show`'],
    ['setup', 'profiles add`'],
    ['key', 'profiles add`'],
    ['test', 'doctor`'],
    ['quickstart', 'demo`'],
    ['mails', 'sandbox mails`'],
    ['bulk cancel', 'envelopes cancel --run last`'],
    ['bulk show run-1', 'bulk status run-1`'],
    ['bulk send list.csv', 'bulk create list.csv --send`'],
    ['import list.csv', 'bulk create list.csv`'],
    ['verify a.pdf', 'documents verify a.pdf`'],
    ['who ada', 'find ada`'],
    ['envelopes remind --status open', 'envelopes list --status open -q | esign envelopes remind -`'],
  ])('gets the command that does it: %s', async (line, suggested) => {
    const { code, stderr } = await home.run(line.split(' '));
    expect([code, stderr]).toEqual([2, expect.stringContaining(`\`esign ${suggested}`) as unknown]);
  });

  it.each([
    ['sandbox stop', 'Press Ctrl-C'],
    ['sandbox status', 'esign doctor'],
    ['documents list', 'esign envelopes list --status COMPLETED'],
    ['templates create', "service's dashboard"],
    ['upload a.pdf', "service's dashboard"],
    ['send a.pdf', "service's dashboard"],
    ['sign env_1', 'esign sandbox sign'],
    ['users', "service's dashboard"],
    ['docs', 'esign help flags'],
    ['help nonsense', 'exit-codes'],
  ])('gets a sentence if no command does it: %s', async (line, sentence) => {
    const { code, stderr } = await home.run(line.split(' '));
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence) as unknown]);
    expect(stderr).not.toContain('Did you mean');
  });

  it.each(['profiles frobnicate', 'sandbox sto', 'events xyz', 'documents lnik2'])(
    'of a topic gets its commands, not a similar one: %s',
    async (line) => {
      const [topic = ''] = line.split(' ');
      const { code, stderr } = await home.run(line.split(' '));
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(new RegExp(`Commands: \\w+, .*esign ${topic} --help`)) as unknown,
      ]);
      expect(stderr).not.toContain('Did you mean');
    },
  );

  it('means only commands that exist', async () => {
    const names = all.map(([id]) => id.replaceAll(':', ' '));
    const table = await readFile(join(import.meta.dirname, '../../src/cli/boot/newcomer-words.ts'), 'utf8');
    const advised = [...table.matchAll(/`esign ([a-z]+(?: [a-z]+)?)/g)].map(([, words = '']) => words);
    const meant = [...MEANINGS.values()].flatMap(({ command = '', alone = '' }) => [command, alone]);
    const exists = (line: string) =>
      [1, 2].some((length) => names.includes(line.split(' ').slice(0, length).join(' ')));
    const unknown = [...advised, ...meant].filter((line) => line !== '' && !exists(line));
    expect(unknown.filter((line) => !line.startsWith('help '))).toEqual([]);
    expect(MEANINGS.size).toBeGreaterThan(60);
  });

  it.each(['foo', 'xyz', 'abc', 'make-coffee'])(
    'is not answered with an unrelated command: %s',
    async (word) => {
      const { code, stderr } = await home.run([word]);
      expect([code, stderr]).toEqual([2, `Error: Unknown command "${word}".\nSee \`esign --help\`.\n`]);
    },
  );

  it.each(['envelopes seen', 'sen', 'see', 'show', 'look', 'open'])(
    'that only reads in that tool never suggests a command that emails or deletes: %s',
    async (line) => {
      const { stderr } = await home.run(line.split(' '));
      expect(stderr).not.toMatch(/esign envelopes (send|cancel|remind|replace|create)|esign profiles remove/);
    },
  );
});
