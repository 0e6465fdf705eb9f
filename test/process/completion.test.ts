import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND, Home } from '../support/cli.ts';
import { serviceToComplete, UNPRINTABLE } from '../support/completing.ts';
import { eventually } from '../support/eventually.ts';
import { openCommand, openScreen, type Screen } from '../support/pty.ts';
import { needs, toolPath } from '../support/tools.ts';

/* What shells insert at a Tab, and that nothing of it runs. */

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
const home = new Home();
let env: Record<string, string>;

beforeAll(async () => {
  const templates = [...HOSTILE, ...UNPRINTABLE].map((id) => ({
    id,
    name: `%F{red}$(touch pwned)\u001b[31m:x ${id}`,
  }));
  env = await serviceToComplete(home, templates);
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
  describe(`completion in ${name}`, { ...needs(name), tags: name === 'bash' ? [] : ['full'] }, () => {
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

    it.each([
      ['esign envel\t', '<envelopes>'],
      ['esign envelopes li\t', '<envelopes><list>'],
      ['esign envelopes list --stat\tCOMP\t', '<envelopes><list><--status><COMPLETED>'],
      ['esign envelopes list --status=SENT,EX\t', '<envelopes><list><--status=SENT,EXPIRED>'],
      ['esign envelopes send \t', '<envelopes><send><env_draft>'],
    ])('completes %j', async (keys, words) => {
      screen.type(`${keys}\r`);
      // The whole line: the words of other commands may begin like these.
      await eventually(() => expect(screen.text().split('\n')).toContain(words));
    });

    it.each(HOSTILE)('inserts %j as one word, and nothing of it runs', async (id) => {
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

it('suggests files in the bash of macOS, which has no compopt', {
  ...needs('bash'),
  tags: ['full'],
}, async () => {
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

it('loads the zsh script as a file in its fpath, too', { ...needs('zsh'), tags: ['full'] }, async () => {
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

it('shows on a terminal how to install it for the current shell', { tags: ['full'] }, async () => {
  const screen = openCommand(home, ['autocomplete'], { env: { SHELL: '/usr/bin/zsh' } });
  expect((await screen.ended).code).toBe(0);
  await screen.shows('eval "$(esign autocomplete zsh)"');
});
