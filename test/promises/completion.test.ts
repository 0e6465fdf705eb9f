import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { COMMAND, Home, reportedError } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { answerPage, type FakeService, fakeService, KEY } from '../support/fake-service.ts';
import { openScreen, type Screen } from '../support/pty.ts';
import { needs, toolPath } from '../support/tools.ts';

/** IDs that no service should return, each found by its first two letters. */
const HOSTILE = [
  'a1 $(touch pwned)',
  'a2`touch pwned`',
  "a3'; touch pwned; '",
  'a4"; touch pwned; "',
  'a5 > pwned',
  'a6\\ & | * ? ~ # $HOME {x,y} [z]',
  'a7!bang^',
  'a8=b:c,d',
  '名9 ünïcode',
];
const UNPRINTABLE = ['zz\u001b]0;title\u0007', 'zz\nnext', 'zz\ttab', 'zz\u202eevil', 'zz\r:files'];
const home = new Home();
let service: FakeService;
let env: Record<string, string>;

beforeAll(async () => {
  const templates = [...HOSTILE, ...UNPRINTABLE].map((id) => ({
    id,
    name: `%F{red}$(touch pwned)\u001b[31m:x ${id}`,
  }));
  const envelopes = ['DRAFT', 'SENT', 'IN_PROGRESS', 'COMPLETED'].map((status) => ({
    id: `env_${status.toLowerCase()}`,
    status,
    subject: 'Lease',
  }));
  service = await fakeService((request, response) => {
    const items = request.path.endsWith('templates') ? templates : envelopes;
    answerPage(request, response, items.length, (i) => items[i]);
  });
  env = { ...home.env, ...service.env };
  await home.run(argv`templates list -q`, { env });
  await home.run(argv`envelopes list -q`, { env });
});
afterAll(async () => {
  await service.server.close();
  await home.close();
});

/** The lines that the scripts receive, after the first one. */
async function candidates(shell: string, current: string, ...words: string[]): Promise<string[]> {
  const { stdout, stderr, code } = await home.run(argv`__complete ${shell} =${current} ${words}`, { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trimEnd().split('\n').slice(1);
}
const values = async (current: string, ...words: string[]) =>
  (await candidates('zsh', current, ...words)).map((line) => line.split('\t')[0]);

describe('completion', () => {
  it('suggests commands, topics, and flags that are not on the line yet', async () => {
    expect(await values('')).toEqual(expect.arrayContaining(['api', 'doctor', 'envelopes', 'profiles']));
    expect(await values('', 'envelopes')).toEqual(expect.arrayContaining(['create', 'list', 'watch']));
    expect(await values('--st', 'envelopes', 'list')).toEqual(['--status']);
    expect(await values('--st', 'envelopes', 'list', '--status', 'SENT')).toEqual([]);
    expect(await values('--si', 'envelopes', 'create', '--signer', 'a@b.c')).toEqual(
      expect.arrayContaining(['--signer']),
    );
    expect(await values('--no-v', 'profiles', 'add')).toEqual(['--no-verify']);
    expect(await values('', 'nonsense')).toEqual([]);
  });

  it('suggests statuses and documents in lists, each once', async () => {
    expect(await values('SENT,CO', 'envelopes', 'list', '--status')).toEqual(['SENT,COMPLETED']);
    expect(await values('--until=DE', 'envelopes', 'watch')).toEqual(['--until=DECLINED']);
    expect(await values('signed,s', 'envelopes', 'download', '--what')).toEqual([]);
  });

  it('suggests envelopes in a state that the command accepts', async () => {
    expect(await values('', 'envelopes', 'send')).toEqual(['env_draft']);
    expect(await values('', 'envelopes', 'remind')).toEqual(['env_sent', 'env_in_progress']);
    expect(await values('', 'envelopes', 'get', 'env_sent', '--json')).toEqual([
      'env_draft',
      'env_in_progress',
      'env_completed',
    ]);
    expect(await candidates('fish', 'env_s', 'envelopes', 'get')).toEqual(['env_sent\tSENT · Lease']);
  });

  it('suggests nothing of one key to another', async () => {
    const words = ['__complete', 'zsh', '=', 'envelopes', 'get'];
    for (const other of [
      { ESIGN_API_KEY: 'sk_other_9876543210' },
      { ESIGN_BASE_URL: 'http://127.0.0.1:9/v1' },
    ])
      expect((await home.run(words, { env: { ...env, ...other } })).stdout).toBe(':none\n');
    expect((await home.run([...words, '--base-url', 'http://127.0.0.1:9/v1'], { env })).stdout).toBe(
      ':none\n',
    );
  });

  it("suggests profile names, even from a store that esign didn't write", async () => {
    const folder = home.path('config');
    const profile = { baseUrl: 'https://x.example/v1', apiKey: 'sk_canary_0123456789' };
    await home.run(['profiles', 'add', 'acme', '--base-url', 'https://x.example/v1', '--no-verify'], { env });
    await writeFile(
      `${folder}/profiles.json`,
      JSON.stringify({ profiles: { acme: profile, 'b\u001b[31m': profile } }),
    );
    expect(await values('', 'profiles', 'use')).toEqual(['acme']);
    expect(await values('', 'templates', 'list', '-p')).toEqual(['acme']);
    expect(await values('', 'profiles', 'add')).toEqual([]);
  });

  it('suggests files and folders where they are expected', async () => {
    const first = async (...words: string[]) =>
      (await home.run(argv`__complete zsh = ${words}`, { env })).stdout.split('\n')[0];
    expect(await first('envelopes', 'create', '--message-file')).toBe(':files');
    expect(await first('demo', '--dir')).toBe(':dirs');
    expect(await first('envelopes', 'list', '--search')).toBe(':none');
  });

  it('prints nothing, not even an error, when everything is broken', async () => {
    const broken = { ...env, ESIGN_STATE_DIR: '/dev/null/x', ESIGN_CONFIG_DIR: '/dev/null/y' };
    for (const words of [[], ['tcsh', '='], ['bash'], ['zsh', '=', 'templates', 'get']]) {
      const found = await home.run(argv`__complete ${words}`, { env: broken });
      expect([found.code, found.stderr]).toEqual([0, '']);
    }
  });
});

describe('the completion cache', () => {
  const files = async () => {
    const names = await readdir(home.path('state', 'completion'));
    return names.map((name) => home.path('state', 'completion', name));
  };

  it('is private, and contains no key', async () => {
    for (const file of await files()) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readFile(file, 'utf8')).not.toContain(KEY.slice(0, 8));
    }
    expect((await stat(home.path('state', 'completion'))).mode & 0o777).toBe(0o700);
  });

  it("is optional if it can't be read or written", async () => {
    await writeFile(home.path('a-file'), '');
    const blocked = { ...env, ESIGN_STATE_DIR: home.path('a-file') };
    expect(await home.run(argv`envelopes list -q`, { env: blocked })).toMatchObject({
      code: 0,
      stderr: '',
    });
    for (const file of await files()) await writeFile(file, '{"cut":');
    expect(await values('', 'templates', 'get')).toEqual([]);
    await home.run(argv`templates list -q`, { env });
    await home.run(argv`envelopes list -q`, { env });
    expect(await values('a8', 'templates', 'get')).toEqual(['a8=b:c,d']);
  });
});

describe('esign autocomplete', () => {
  it('prints a script and nothing else', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { code, stdout, stderr } = await home.run`autocomplete ${shell}`;
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('esign __complete');
      expect(stdout).not.toMatch(/\beval\b|Invoke-Expression|\biex\b/);
    }
  });

  it('shows on a terminal how to install it for the current shell', async () => {
    const [file, ...before] = COMMAND;
    const screen = openScreen(file, [...before, 'autocomplete'], {
      env: { ...home.env, SHELL: '/usr/bin/zsh' },
    });
    expect((await screen.ended).code).toBe(0);
    await screen.shows('eval "$(esign autocomplete zsh)"');
  });

  it('requires a shell name in a pipe', async () => {
    expect(reportedError(await home.run`autocomplete --json`)).toMatchObject({
      code: 'USAGE',
      exitCode: 2,
    });
    expect((await home.run`autocomplete tcsh`).code).toBe(2);
  });
});

interface ShellUnderTest {
  name: 'bash' | 'zsh' | 'fish';
  args: string[];
  /** Makes `esign` print its arguments, except for completion. */
  setUp(command: string): string;
}

const posix = (command: string, name: string) =>
  `PS1='ready> '; HISTFILE=/dev/null; esign() { if [ "$1" = __complete ]; then ${command} "$@"; else printf '<%s>' "$@"; echo; fi; }; source ./completion.${name}; clear; echo be''gun\r`;
const SHELLS: ShellUnderTest[] = [
  { name: 'bash', args: ['--norc', '--noprofile', '-i'], setUp: (command) => posix(command, 'bash') },
  { name: 'zsh', args: ['-f', '-i'], setUp: (command) => posix(command, 'zsh') },
  {
    name: 'fish',
    args: ['--no-config', '-i'],
    setUp: (command) =>
      `function esign; if test "$argv[1]" = __complete; ${command} $argv; else; printf '<%s>' $argv; echo; end; end; source ./completion.fish; clear; echo be''gun\r`,
  },
];

for (const { name, args, setUp } of SHELLS)
  describe(`completion in ${name}`, needs(name), () => {
    let screen: Screen;

    beforeAll(async () => {
      const script = await home.run`autocomplete ${name}`;
      await writeFile(home.path(`completion.${name}`), script.stdout);
      screen = openScreen('sh', ['-c', `cd '${home.folder}' && exec '${toolPath(name)}' ${args.join(' ')}`], {
        env: { ...env, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', XDG_RUNTIME_DIR: home.folder },
        columns: 200,
        rows: 400,
      });
      screen.type(setUp(COMMAND.map((word) => `'${word}'`).join(' ')));
      await screen.shows('begun');
    });
    afterAll(async () => {
      screen.hangUp();
      await screen.ended;
    });

    for (const [index, [keys, words]] of [
      ['esign envel\t', '<envelopes>'],
      ['esign envelopes li\t', '<envelopes><list>'],
      ['esign envelopes list --stat\tCOMP\t', '<envelopes><list><--status><COMPLETED>'],
      ['esign envelopes list --status=SENT,EX\t', '<envelopes><list><--status=SENT,EXPIRED>'],
      ['esign envelopes send \t', '<envelopes><send><env_draft>'],
    ].entries())
      it(`completes ${JSON.stringify(keys)}`, {
        tags: name === 'bash' || index > 2 ? [] : ['full'],
      }, async () => {
        screen.type(`${keys}\r`);
        // A line of its own: the words of other commands may begin like these.
        await eventually(() => expect(screen.text().split('\n')).toContain(words));
      });

    for (const [index, id] of HOSTILE.entries())
      it(`inserts ${JSON.stringify(id)} as one word, and nothing of it runs`, {
        tags: index < (name === 'bash' ? 3 : 1) ? [] : ['full'],
      }, async () => {
        screen.type(`esign templates get ${id.slice(0, 2)}\t\r`);
        await screen.shows(`<templates><get><${id}>`);
        expect(existsSync(home.path('pwned'))).toBe(false);
      });

    it('suggests files where a file is expected', async () => {
      await writeFile(home.path('only one.txt'), '');
      screen.type('esign envelopes create --message-file onl\t\r');
      await screen.shows('<envelopes><create><--message-file><only one.txt>');
    });

    it('works for the value of a flag, and inside quotes', async () => {
      screen.type('esign envelopes create --template=a1\t\r');
      await screen.shows('<envelopes><create><--template=a1 $(touch pwned)>');
      screen.type('esign envelopes list --template "a1\t\r');
      await screen.shows('<envelopes><list><--template><a1 $(touch pwned)>');
      screen.type("esign envelopes list --signer x --template 'a1\t\r");
      await screen.shows('<envelopes><list><--signer><x><--template><a1 $(touch pwned)>');
      expect(existsSync(home.path('pwned'))).toBe(false);
    });

    it('shows a choice without control characters', async () => {
      screen.type('clear; echo clea""red\r');
      await screen.shows('cleared');
      screen.type('esign templates get \t\t');
      await screen.shows('a8');
      if (name !== 'bash') await screen.shows('%F{red}$(touch pwned)␛[31m:x');
      expect(screen.text()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
      expect(screen.text()).not.toContain('zz');
      expect(existsSync(home.path('pwned'))).toBe(false);
      // Ctrl-U clears the line for the other tests in this shell.
      screen.type('\u0015');
    });
  });

it('suggests files in the bash of macOS, which has no compopt', needs('bash'), async () => {
  await writeFile(home.path('macos.bash'), (await home.run`autocomplete bash`).stdout);
  await writeFile(home.path('only one.txt'), '');
  const line = 'esign envelopes create --message-file onl';
  const found = await home.shell(
    `enable -n compopt; source ./macos.bash; COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(${line}) COMP_CWORD=4
     _esign; printf '%s\n' "\${COMPREPLY[@]}"`,
    env,
  );
  expect(found).toMatchObject({ stdout: 'only\\ one.txt\n', stderr: '' });
});

it('loads the zsh script as a file in its fpath, too', needs('zsh'), async () => {
  await mkdir(home.path('functions'), { recursive: true });
  await mkdir(home.path('bin'), { recursive: true });
  const script = await home.run`autocomplete zsh`;
  await writeFile(home.path('functions', '_esign'), script.stdout);
  const command = COMMAND.map((word) => `'${word}'`).join(' ');
  await writeFile(home.path('bin', 'esign'), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  const screen = openScreen('zsh', ['-f', '-i'], {
    env: { ...env, PATH: `${home.path('bin')}:${env.PATH ?? ''}` },
  });
  screen.type(`fpath=('${home.path('functions')}' $fpath); autoload -Uz compinit && compinit -u -D; clear\r`);
  screen.type('esign doct\t');
  await screen.shows('esign doctor');
  screen.hangUp();
  await screen.ended;
});
