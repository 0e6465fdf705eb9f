import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/exit-codes.ts';
import { SERVICE_ERROR_CODES } from '../../../src/kernel/vocabulary.ts';

const root = join(import.meta.dirname, '../../..');
const page = await readFile(join(root, 'docs/troubleshooting.md'), 'utf8');
/** Every row that begins with a code: code, exit code, meaning, action. */
const rows = page
  .split('\n')
  .filter((line) => /^\| `[A-Z_]+` \|/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .map(([, code = '', exit = '', means = '', fix = '']) => ({
    code: code.replaceAll('`', ''),
    exit: Number(exit),
    means,
    fix,
  }));

/** Every error code in the sources. */
async function codesOfSources(): Promise<string[]> {
  const files = await readdir(join(root, 'src'), { recursive: true });
  const found = new Set<string>(['UNEXPECTED']);
  for (const file of files.filter(
    (one) => one.endsWith('.ts') && !/^sandbox[/\\](?!commands|control)/.test(one),
  )) {
    const text = await readFile(join(root, 'src', file), 'utf8');
    for (const [, code = ''] of text.matchAll(
      /(?:(?:super|new \w+Error)\(\s*|errorClass\('\w+', )'([A-Z][A-Z_]+)'/g,
    ))
      found.add(code);
    for (const [, code = ''] of text.matchAll(/^ {2}\| '((?:STORAGE|SEAL)_[A-Z_]+)'/gm)) found.add(code);
    for (const [, code = ''] of text.matchAll(/code: '([A-Z][A-Z_]+)'/g)) found.add(code);
    for (const [, codes = ''] of text.matchAll(/code: ((?:'[A-Z_]+' \| )+'[A-Z_]+')/g))
      for (const code of codes.split(' | ')) found.add(code.replaceAll("'", ''));
  }
  // The others are system error codes.
  return [...found].filter((code) => !/^E[A-Z]+$/.test(code)).sort();
}

describe('docs/troubleshooting.md', () => {
  it('has a row for every error code of the service and of esign, and no other', async () => {
    const codes = new Set([...SERVICE_ERROR_CODES, ...(await codesOfSources())]);
    // Only the client has it (docs/client.md).
    codes.delete('NOT_VERIFIED');
    expect(codes.size).toBeGreaterThan(25);
    expect(rows.map(({ code }) => code).sort()).toEqual([...codes].sort());
  });

  it('has every exit code', () => {
    // A warning or a code in a list has an exit code of 0. After SIGTERM, the error is INTERRUPTED, too.
    const named = new Set(rows.map(({ exit }) => exit).filter((exit) => exit !== EXIT.ok));
    expect([...named].sort((a, b) => a - b)).toEqual(
      Object.values(EXIT).filter((code) => code !== EXIT.ok && code !== EXIT.terminated),
    );
    expect(page).toMatch(/0 for success, 130 after Ctrl-C, and 143/);
  });

  it.each(rows)('explains $code and what to do', ({ means, fix }) => {
    expect(means.length).toBeGreaterThan(10);
    expect(fix.length).toBeGreaterThan(10);
  });
});
