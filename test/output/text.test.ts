import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeBlock, safeLine, truncate, widthOf } from '../../src/output/text.ts';

describe('text from strangers', () => {
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
  ])('%j is made visible', (text, shown) => {
    expect(safeLine(text)).toBe(shown);
  });

  it.each(['Łukasz Řehoř', '李小龍', 'हिन्दी', 'क्‍ष', '👩‍💻 ok', '✔️ done', 'مرحبا', 'naïve — “quoted”'])(
    '%s is left alone',
    (text) => {
      expect(safeLine(text)).toBe(text);
    },
  );

  it('never lets a control character through, whatever comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(safeLine(text)).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
        expect(safeBlock(text)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });

  it('is cut to a width by columns, not by code units', () => {
    expect(truncate('hello world', 8)).toBe('hello w…');
    expect(truncate('李小龍李小龍', 8)).toBe('李小龍…');
    expect(truncate('short', 8)).toBe('short');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(widthOf(truncate(safeLine(text), width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});
