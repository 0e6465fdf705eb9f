import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { readCommandTree } from '../../src/completion/commands.ts';
import { flagNamed, readLine } from '../../src/completion/line.ts';
import { callsOf, type Snippet, snippetsOf } from '../docs/page.ts';
import { Session } from '../docs/session.ts';

const root = join(import.meta.dirname, '../..');
const guides = (await readdir(join(root, 'docs'))).filter((file) => file.endsWith('.md')).sort();
const pages = await Promise.all(
  ['README.md', ...guides.map((file) => `docs/${file}`)].map(async (page) => {
    const text = await readFile(join(root, page), 'utf8');
    return { page, text, snippets: snippetsOf(page, text) };
  }),
);
const tree = readCommandTree(root);

const hasJq = spawnSync('jq', ['--version']).status === 0;
const isShell = ({ language }: Snippet) => ['sh', 'bash', 'console'].includes(language);
const isRun = (one: Snippet) => isShell(one) && !one.notes.has('not run');
const startsSandbox = ({ text, notes }: Snippet) =>
  text.includes('esign sandbox start') && notes.has('keeps running');

/** What is wrong with a call, by the manifest: no such command, no such flag. */
function problemOf(call: string): string {
  const words = call.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const line = readLine(tree, words);
  if (words[0]?.startsWith('-') || words[0] === '…') return '';
  if (line.command === undefined) return line.path === '' ? `no command: ${call}` : '';
  const long = words.filter((one) => one.startsWith('--')).map((one) => one.slice(2).split('=')[0] ?? '');
  const letters = words.filter((one) => /^-[a-zA-Z]$/.test(one)).map((one) => one.slice(1));
  const chars = Object.values(line.command.flags).map((flag) => flag.char);
  const unknown = [
    ...long.filter((name) => name !== 'help' && flagNamed(line, name) === undefined),
    ...letters.filter((letter) => !chars.includes(letter)),
  ];
  return unknown.length === 0 ? '' : `no flag ${unknown.join(', ')}: ${call}`;
}

describe('the pages', () => {
  it.each(pages)('$page calls what there is', ({ snippets }) => {
    const problems = snippets.flatMap((snippet) =>
      callsOf(snippet)
        .map(problemOf)
        .filter((problem) => problem !== '')
        .map((problem) => `${snippet.page}:${snippet.line}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  it('say why where a snippet is not run', () => {
    const silent = pages.flatMap(({ snippets }) =>
      snippets.filter(({ notes }) => notes.get('not run') === '').map(({ page, line }) => `${page}:${line}`),
    );
    expect(silent).toEqual([]);
  });

  it('show enough to be checked', () => {
    const all = pages.flatMap(({ snippets }) => snippets).filter(isShell);
    const run = all.filter(isRun);
    expect(run.length).toBeGreaterThan(15);
    expect(run.length / all.length).toBeGreaterThan(0.7);
  });

  it.each(['README.md', 'docs/scripting.md'])('name every exit code: %s', (name) => {
    const text = pages.find(({ page }) => page === name)?.text ?? '';
    const codes = [...text.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = '']) =>
      codes.split(', ').map(Number),
    );
    expect(codes).toEqual([...Object.values(EXIT), 130, 143]);
  });
});

describe.skipIf(process.platform === 'win32')('each snippet does what it shows', () => {
  it.concurrent.each(pages)(
    '$page',
    async ({ snippets }) => {
      const run = snippets.filter((one) => isRun(one) && (hasJq || !/\bjq\b/.test(one.text)));
      if (run.length === 0) return;
      const session = new Session();
      const problems: string[] = [];
      try {
        await session.open(run.some(startsSandbox));
        for (const snippet of run) {
          const problem = await session.run(snippet);
          if (problem !== '') problems.push(`${snippet.page}:${snippet.line}\n${problem}`);
        }
      } finally {
        await session.close();
      }
      expect(problems.join('\n\n')).toBe('');
    },
    180_000,
  );
});
