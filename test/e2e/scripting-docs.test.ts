import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { readCommandTree } from '../../src/completion/commands.ts';
import { flagNamed, readLine } from '../../src/completion/line.ts';

const root = join(import.meta.dirname, '../..');
const text = await readFile(join(root, 'docs/scripting.md'), 'utf8');
const tree = readCommandTree(root);

/** Every call of esign in the page's code: its words up to the end of the command. */
const calls = [...text.matchAll(/```(?:sh|cron|yaml)\n([\s\S]*?)```/g)]
  .flatMap(([, code = '']) => code.replaceAll(/\\\n\s*/g, ' ').split('\n'))
  .filter((line) => !line.startsWith('#'))
  .flatMap((line) =>
    [...line.matchAll(/(?:^|[|(&:] ?|\s)esign ([^|)&>;]+)/g)].map(([, call = '']) => call.trim()),
  );

describe('docs/scripting.md', () => {
  it('names every exit code', () => {
    const codes = [...text.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = '']) =>
      codes.split(', ').map(Number),
    );
    expect(codes).toEqual([...Object.values(EXIT), 130, 143]);
  });

  it('shows enough to be checked', () => {
    expect(calls.length).toBeGreaterThan(20);
  });

  it.each(calls)('esign %s', (call) => {
    const words = call.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
    const line = readLine(tree, words);
    expect(line.command, `there is no command ${call}`).toBeDefined();
    for (const word of words.filter((one) => one.startsWith('--')))
      expect(flagNamed(line, word.slice(2)), `there is no flag ${word}`).toBeDefined();
    for (const word of words.filter((one) => /^-\w$/.test(one)))
      expect(Object.values(line.command?.flags ?? {}).map((flag) => flag.char)).toContain(word.slice(1));
  });
});
