import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTable } from '../../src/output/table.ts';
import { processTerminal } from '../../src/output/terminal.ts';
import {
  inColumns,
  padded,
  paragraph,
  safeBlock,
  safeJson,
  safeLine,
  truncate,
  widthOf,
  wrapped,
} from '../../src/output/text.ts';
import { anyText } from '../support/any-text.ts';

describe('untrusted text', () => {
  it.each([
    ['\u001b[31mred', '␛[31mred'],
    ['title\u001b]0;owned\u0007', 'title␛]0;owned␇'],
    ['a\nb\tc\rd', 'a⏎b␉c␍d'],
    ['\u009b2J', '<009B>2J'],
    ['user\u202Egpj.exe', 'user<202E>gpj.exe'],
    ['pay\u200Bpal', 'pay<200B>pal'],
    ['\u{E0041}tag', '<E0041>tag'],
    ['lone \ud800 half', 'lone <D800> half'],
    ['\u2066iso\u2069', '<2066>iso<2069>'],
    ['rub\u007fout', 'rub␡out'],
    ['nul\u0000unit\u001f', 'nul␀unit␟'],
    ['next\u0085line', 'next<0085>line'],
    ['line\u2028paragraph\u2029', 'line<2028>paragraph<2029>'],
    ['soft\u00adhyphen', 'soft<00AD>hyphen'],
    ['join\u200ded', 'join<200D>ed'],
    ['join\u200ced', 'join<200C>ed'],
    ['\u200dfirst', '<200D>first'],
    ['no\u2060break', 'no<2060>break'],
    ['क\u2060ष', 'क<2060>ष'],
    ['👩\u200b💻', '👩<200B>💻'],
  ])('shows %j visibly', (text, shown) => {
    expect(safeLine(text)).toBe(shown);
  });

  it.each([
    'Łukasz Řehoř',
    '李小龍',
    'हिन्दी',
    'क्‍ष',
    '👩‍💻 ok',
    '✔️ done',
    '❤️‍🔥',
    '👩🏽‍💻',
    'مرحبا',
    'می‌خواهم',
    'ب‌ت',
    '👩‍💻👩‍💻',
    'space ~ and tilde',
    'naïve — “quoted”',
  ])('keeps %s unchanged', (text) => {
    expect(safeLine(text)).toBe(text);
  });

  it('never contains a control character, for any input', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(safeLine(text)).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
        expect(safeBlock(text)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });

  it('keeps its lines as a block, with any line endings', () => {
    expect(safeBlock('one\ntwo\r\nthree\rhalf\n\nfour\u001b[2J')).toBe('one\ntwo\nthree␍half\n\nfour␛[2J');
  });

  it('is equivalent JSON after escaping, without control characters', () => {
    expect(safeJson('{\n  "a": "\u007f\u{e0041}\u200d"\n}')).toBe(
      '{\n  "a": "\\u007f\\udb40\\udc41\\u200d"\n}',
    );
    expect(safeJson('"می‌خواهم 👩‍💻 a\u200cb 👩\u2060"')).toBe('"می‌خواهم 👩‍💻 a\\u200cb 👩\\u2060"');
    fc.assert(
      fc.property(fc.array(anyText), (value) => {
        const safe = safeJson(JSON.stringify(value, null, 2));
        expect(JSON.parse(safe)).toEqual(value);
        expect(safe).not.toMatch(
          /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u,
        );
      }),
    );
  });

  it('is truncated by columns, not by code units', () => {
    expect(truncate('hello world', 8)).toBe('hello w…');
    expect(truncate('李小龍李小龍', 8)).toBe('李小龍…');
    expect(truncate('short', 8)).toBe('short');
    expect(truncate('exactly8', 8)).toBe('exactly8');
    expect(truncate('👩‍💻👩‍💻👩‍💻', 5)).toBe('👩‍💻👩‍💻…');
    expect(truncate('anything', 1)).toBe('…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(widthOf(truncate(safeLine(text), width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('text in columns', () => {
  it('is padded by columns, and never truncated', () => {
    expect(padded('ab', 4)).toBe('ab  ');
    expect(padded('李小', 5)).toBe('李小 ');
    expect(padded('too long', 4)).toBe('too long');
  });

  it.each<[string, string[][], string[]]>([
    [
      'aligned',
      [
        ['a', 'bb'],
        ['ccc', 'd', 'e'],
      ],
      ['a    bb', 'ccc  d   e'],
    ],
    [
      'aligned by columns',
      [
        ['李', 'x'],
        ['abc', 'y'],
      ],
      ['李   x', 'abc  y'],
    ],
    [
      'without empty columns',
      [
        ['a', '', 'b'],
        ['c', '', 'd'],
      ],
      ['a  b', 'c  d'],
    ],
    [
      'without trailing blanks',
      [
        ['a', ''],
        ['b', 'c'],
      ],
      ['a', 'b  c'],
    ],
    ['as many as the rows', [[], ['a']], ['', 'a']],
    ['empty without rows', [], []],
  ])('is %s', (_, rows, lines) => {
    expect(inColumns(rows)).toEqual(lines);
  });

  it('is aligned in a long table as in a short one', () => {
    const items = Array.from({ length: 250 }, (_, n) => ({
      id: `env_${n}`,
      who: n === 240 ? 'Ada, Bo' : 'Ada',
    }));
    const lines = renderTable(
      items,
      [{ key: 'id' }, { key: 'who' }, { key: 'id' }],
      processTerminal({}),
    ).split('\n');
    expect([lines[0], lines[1], lines[241], lines.length]).toEqual([
      'ID       WHO      ID',
      'env_0    Ada      env_0',
      'env_240  Ada, Bo  env_240',
      252,
    ]);
  });

  it.each([
    ['one two three', 20, ['one two three']],
    ['one two three', 13, ['one two three']],
    ['one two three', 12, ['one two', 'three']],
    ['one two three', 7, ['one two', 'three']],
    ['one two three', 3, ['one', 'two', 'three']],
    ['a longword', 6, ['a', 'longword']],
    ['in /home/ada/v/lease.pdf now', 9, ['in', '/home/ada/v/lease.pdf', 'now']],
    ['run `esign late -q | x -`. Or not', 12, ['run', '`esign late -q | x -`.', 'Or not']],
    ['one  two three', 8, ['one  two', 'three']],
    ['sixsix', 6, ['sixsix']],
    ['李小龍 李小龍', 6, ['李小龍', '李小龍']],
    ['李小龍', 5, ['李小', '龍']],
    ['李abcdef龍', 4, ['李', 'abcdef', '龍']],
    ['👩‍💻👩‍💻👩‍💻', 4, ['👩‍💻👩‍💻', '👩‍💻']],
    ['', 4, ['']],
  ])('is wrapped between words: %j at %i', (text, width, lines) => {
    expect(wrapped(text, width)).toEqual(lines);
  });

  it('loses nothing when it is wrapped, and only a single word is longer than a line', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), { maxLength: 8 }),
        fc.integer({ min: 2, max: 20 }),
        (words, width) => {
          const text = safeLine(words.join(' '));
          const lines = wrapped(text, width);
          for (const line of lines.filter((one) => /\S\s+\S/.test(one) && !one.includes('`')))
            expect(widthOf(line)).toBeLessThanOrEqual(width);
          expect(lines.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
        },
      ),
    );
  });
});

describe('sentences on a terminal', () => {
  it('wrap between words, and keep a command in one piece', () => {
    const text = 'Error: there is no such thing.\nSee them all: `esign envelopes list --all`. Or ask.';
    expect(paragraph(text, 24).split('\n')).toEqual([
      'Error: there is no such',
      'thing.',
      'See them all:',
      '`esign envelopes list --all`.',
      'Or ask.',
    ]);
    expect(paragraph(text, Number.POSITIVE_INFINITY)).toBe(text);
  });

  it('keep their indentation and short lines', () => {
    expect(paragraph('         ', 5)).toBe('');
    expect(paragraph('  field: one two\n\nshort\n', 12)).toBe('  field: one\n  two\n\nshort\n');
  });
});

it('prints at most eight combining marks per character', () => {
  const marks = (count: number) => '\u0301\u0489'.repeat(count / 2);
  expect(safeLine(`a${marks(8)}b`)).toBe(`a${marks(8)}b`);
  expect(safeLine(`a${marks(20_000)}b${marks(2)}`)).toBe(`a${marks(8)}…b${marks(2)}`);
  for (const text of ['Việt Nam', 'שָׁלוֹם', 'น้ำใจ', 'हिन्दी', 'e\u0301']) expect(safeLine(text)).toBe(text);
});
