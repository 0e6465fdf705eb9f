import { describe, expect, it } from 'vitest';
import { withoutFormula } from '../../../src/kernel/text/formula.ts';

describe('a cell of a spreadsheet', () => {
  it.each([
    '=1',
    '+1',
    '-1',
    '@SUM(A1)',
    ' =1',
    '\u00a0=1',
    '\ufeff=1',
    '\u200b=1',
    '\n=1',
    '\t1',
    '\r1',
    '\uff1d1',
  ])('%j is not run as a formula', (text) => expect(withoutFormula(text)).toBe(`'${text}`));

  it.each(['', 'a=1', 'Ada - Bo', ' Ada', '1', "'=1"])('%j stays as it is', (text) =>
    expect(withoutFormula(text)).toBe(text),
  );
});
