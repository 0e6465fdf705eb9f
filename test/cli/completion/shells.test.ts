import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectShell, SCRIPTS } from '../../../src/cli/completion/autocomplete.ts';
import { parseTypedWords, quoteForBash, quoteForPowerShell } from '../../../src/cli/completion/shells.ts';
import { hasBash } from '../../support/system.ts';

const printable = fc
  .array(
    fc.oneof(fc.constantFrom(...'\'"\\$`!;&|<>(){}[]*?~#^=:,@% abc-é名'), fc.string({ unit: 'grapheme' })),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((parts) => `${parts.join('').replaceAll(/[\p{C}\p{Z}]/gu, ' ')}.`);

/** Each text as bash parses it, word by word. */
function readByBash(texts: readonly string[]): string[] {
  const script = `set +H; printf '%s\\0' ${texts.join(' ')}`;
  const { stdout, status } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  expect(status).toBe(0);
  return stdout.split('\0').slice(0, -1);
}

describe('quoting for bash', () => {
  it.runIf(hasBash).each(['', "'", '"'])('restores any text, inside %j', (quote) => {
    const values = fc.sample(printable, 400).filter((value) => quoteForBash(value, quote) !== undefined);
    expect(values.length).toBeGreaterThan(100);
    const written = values.map((value) => `${quote}${quoteForBash(value, quote) ?? ''}${quote}`);
    expect(readByBash(written)).toEqual(values);
  });

  it("omits text that can't be written inside the open quote", () => {
    expect(quoteForBash("it's", "'")).toBeUndefined();
    expect(quoteForBash('wow!', '"')).toBeUndefined();
  });
});

describe('parsing input from bash', () => {
  it.each([
    ['env', 'esign env', [], 'env', 'envelopes', 'envelopes'],
    ['', 'esign envelopes get ', ['envelopes', 'get'], '', 'a b', 'a\\ b'],
    ['a\\ ', 'esign get a\\ ', ['get'], 'a ', 'a b', 'a\\ b'],
    ['SE', 'esign list --status=SE', ['list'], '--status=SE', '--status=SENT', 'SENT'],
    ['=', 'esign list --status=', ['list'], '--status=', '--status=SENT', 'SENT'],
    ['c', 'esign get b=c:c', ['get'], 'b=c:c', 'b=c:cd', 'cd'],
    ['"a ', 'esign get "a ', ['get'], 'a ', 'a $b', 'a \\$b'],
    ["'a ", "esign get 'a ", ['get'], 'a ', 'a $b', 'a $b'],
    ['"x', 'esign get --template="x', ['get'], '--template=x', '--template=x y', 'x y'],
    ['b', 'esign list "a \\"c" b', ['list', 'a "c'], 'b', 'b', 'b'],
  ])('completes %j of %j', (word, line, words, current, value, inserted) => {
    const typed = parseTypedWords('bash', [`=${word}`, line]);
    expect([typed.words, typed.current]).toEqual([words, current]);
    expect(typed.insert(value)).toBe(inserted);
  });

  it('never fails, for any command line', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (word, line, value) => {
        parseTypedWords('bash', [`=${word}`, line]).insert(value);
      }),
    );
  });
});

describe('PowerShell', () => {
  it('puts all other text in single quotes, and doubles all five kinds of them', () => {
    expect(quoteForPowerShell('tmpl_lease')).toBe('tmpl_lease');
    expect(quoteForPowerShell('SENT,DRAFT')).toBe("'SENT,DRAFT'");
    expect(quoteForPowerShell('$(rm) `x`')).toBe("'$(rm) `x`'");
    expect(quoteForPowerShell("it's ‘a’ ‚b‛")).toBe("'it''s ‘‘a’’ ‚‚b‛‛'");
  });

  it('has a script with balanced brackets that runs nothing but esign', () => {
    const script = SCRIPTS.powershell.replaceAll(/"(?:`.|[^"])*"|'[^']*'|#.*/g, '');
    for (const [open, close] of ['()', '{}', '[]'].map((pair) => [...pair]))
      expect(script.split(open ?? '').length).toBe(script.split(close ?? '').length);
    expect(script.match(/&\s*\w+/g)).toEqual(['& esign']);
  });
});

describe('the detected shell', () => {
  it.each([
    [{ SHELL: '/bin/bash' }, 'linux', 'bash'],
    [{ SHELL: '/usr/local/bin/fish' }, 'darwin', 'fish'],
    [{ SHELL: '/bin/zsh' }, 'darwin', 'zsh'],
    [{}, 'win32', 'powershell'],
    [{ SHELL: '/bin/tcsh' }, 'linux', undefined],
    [{}, 'linux', undefined],
  ])('detects the shell with %j on %s as %s', (env: Record<string, string>, platform, shell) => {
    expect(detectShell(env, platform)).toBe(shell);
  });
});
