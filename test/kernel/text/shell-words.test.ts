import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { command, shellWord } from '../../../src/kernel/text/shell-words.ts';
import { safeBlock } from '../../../src/output/text.ts';
import { hasBash } from '../../support/system.ts';

/** The arguments that a shell parses. */
const readByBash = (words: string[]) =>
  execFileSync('bash', ['--norc', '-c', `printf '%s\\0' ${words.join(' ')}`], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' },
  })
    .split('\0')
    .slice(0, -1);

const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom(...'\'"\\$`!;|&<>*? \n\t\u001b\u202e-~#é漢'),
      fc.string({ unit: 'grapheme' }),
    ),
  })
  .filter((word) => !word.includes('\0'));

describe('an argument', () => {
  it.each([
    ['tmpl_nda', 'tmpl_nda'],
    ['a@b.c', 'a@b.c'],
    ["It's", `'It'\\''s'`],
    ['', `''`],
    ['--send', `'--send'`],
    ['a\nb', `$'a\\nb'`],
    ['red\u001b[31m', `$'red\\u001b[31m'`],
  ])('quotes %j as %s', (word, quoted) => {
    expect(shellWord(word, 'linux')).toBe(quoted);
  });

  it.each([
    ["It's", `'It''s'`],
    ['a\n$b', '"a`n`$b"'],
    ['red\u001b[31m', '"red$([char]0x001b)[31m"'],
    ['\u{E0041}', '"$([char]::ConvertFromUtf32(0xe0041))"'],
  ])('quotes %j as %s in PowerShell', (word, quoted) => {
    expect(shellWord(word, 'win32')).toBe(quoted);
  });

  it.runIf(hasBash)('reaches the program unchanged, and contains nothing that affects a terminal', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (words) => {
        const quoted = words.map((word) => shellWord(word, 'linux'));
        expect(readByBash(quoted)).toEqual(words);
        for (const word of quoted) expect(safeBlock(word)).toBe(word);
      }),
      { numRuns: 30 },
    );
  });
});

describe('a command for copying', () => {
  it.skipIf(process.platform === 'win32' || !hasBash)('runs only esign, for any ID', () => {
    for (const id of [
      'env_$(touch x)`touch y`;touch z',
      "'; touch x; '",
      'a\nb',
      '\u001b[2J',
      '&& x',
      '*',
      '~',
    ])
      expect(readByBash([command('envelopes', 'get', id)])).toEqual(['esign', 'envelopes', 'get', id]);
  });

  it('keeps flags unchanged and quotes their values', () => {
    const words = ['bulk', 'create', 'a b.csv', '--dry-run', '--name=x y'];
    expect(command(...words)).toBe("esign bulk create 'a b.csv' --dry-run --name='x y'");
  });
});
