import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCommandTree } from '../../../src/cli/completion/command-tree.ts';
import { EXIT } from '../../../src/cli/exit-codes.ts';
import { needs, type Tool } from '../../support/tools.ts';
import { problemOf } from './calls.ts';
import { callsOf, type Snippet, snippetsOf } from './page.ts';
import { Session } from './session.ts';

const root = join(import.meta.dirname, '../../..');
const guides = (await readdir(join(root, 'docs'))).filter((file) => file.endsWith('.md')).sort();
const pages = await Promise.all(
  ['README.md', 'skills/esign/SKILL.md', ...guides.map((file) => `docs/${file}`)].map(async (page) => {
    const text = await readFile(join(root, page), 'utf8');
    return { page, text, snippets: snippetsOf(page, text) };
  }),
);
const tree = readCommandTree(root);

const isShell = ({ language }: Snippet) => ['sh', 'bash', 'console'].includes(language);
const isRun = (one: Snippet) => isShell(one) && !one.notes.has('not run');
const startsSandbox = ({ text, notes }: Snippet) =>
  text.includes('esign sandbox start') && notes.has('keeps running');

describe('the pages', () => {
  it.each(pages)('calls only existing commands: $page', ({ snippets }) => {
    const problems = snippets.flatMap((snippet) =>
      callsOf(snippet)
        .map((call) => problemOf(tree, call))
        .filter((problem) => problem !== '')
        .map((problem) => `${snippet.page}:${snippet.line}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  it('gives a reason for each snippet that is not run', () => {
    const silent = pages.flatMap(({ snippets }) =>
      snippets.filter(({ notes }) => notes.get('not run') === '').map(({ page, line }) => `${page}:${line}`),
    );
    expect(silent).toEqual([]);
  });

  it('shows enough output to be checked', () => {
    const all = pages.flatMap(({ snippets }) => snippets).filter(isShell);
    const run = all.filter(isRun);
    expect(run.length).toBeGreaterThan(15);
    expect(run.length / all.length).toBeGreaterThan(0.7);
  });

  it('lists every exit code in docs/scripting.md', () => {
    const text = pages.find(({ page }) => page === 'docs/scripting.md')?.text ?? '';
    const codes = [...text.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = '']) =>
      codes.split(', ').map(Number),
    );
    expect(codes).toEqual(Object.values(EXIT));
  });
});

describe.skipIf(process.platform === 'win32')('each snippet prints the shown output', () => {
  for (const { page, snippets } of pages) {
    const run = snippets.filter(isRun);
    if (run.length === 0) continue;
    const tools = (['bash', 'jq', 'pdfsig', 'curl'] satisfies Tool[]).filter(
      (tool) => tool === 'bash' || run.some(({ text }) => new RegExp(`\\b${tool}\\b`).test(text)),
    );
    const tags = page === 'README.md' ? [] : ['full'];
    it.concurrent(page, { ...needs(...tools), tags, timeout: 180_000 }, async () => {
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
    });
  }
});
