import { describe, expect, it } from 'vitest';
import { escapeFormula } from '../../../src/kernel/text/formula.ts';

describe('a spreadsheet cell', () => {
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
  ])('is escaped with %j, so that it is not evaluated', (text) =>
    expect(escapeFormula(text)).toBe(`'${text}`),
  );

  it.each(['', 'a=1', 'Ada - Bo', ' Ada', '1', "'=1"])('stays unchanged with %j', (text) =>
    expect(escapeFormula(text)).toBe(text),
  );
});
