import { describe, expect, it } from 'vitest';
import { foldText, matchesAllWords, wordsOf } from '../../../src/kernel/text/search-words.ts';

const fits = (question: string, ...texts: string[]) =>
  matchesAllWords(texts.map(foldText), wordsOf(question));

describe('words matched by prefix', () => {
  it.each([
    ['lukasz', 'Łukasz Řehoř'],
    ['REHOR lukasz', 'Łukasz Řehoř'],
    ['Łuk', 'LUKASZ'],
    ['groß', 'GROSS'],
    ['soren', 'Søren'],
    ['σοφος', 'ΣΟΦΌΣ'],
    ["o'brien", 'O’Brien'],
    ['lukasz', 'lukasz@example.com'],
    ['example.com', 'lukasz@example.com'],
    ['@example.com', 'lukasz@example.com'],
    ['<lukasz@example.com>', 'lukasz@example.com'],
    ['4cc9', 'env_4cc9'],
    ['contract 1377', 'Contract 1377'],
    ['小龍', '李小龍'],
    ['"dry"', 'dry'],
    ['', 'anything'],
  ])('finds %s in %s', (question, text) => {
    expect(fits(question, text)).toBe(true);
  });

  it.each([
    ['lease', 'Please sign: the deed'],
    ['ukasz', 'Łukasz'],
    ['lukasz bo', 'Łukasz Řehoř'],
    ['xample', 'lukasz@example.com'],
    ['-', 'dry'],
    ['é', 'नमस्ते'],
  ])("doesn't find %s in %s", (question, text) => {
    expect(fits(question, text)).toBe(false);
  });

  it('may each be in a different text', () => {
    expect(fits('lukasz 1377', 'Contract 1377', 'Łukasz Řehoř')).toBe(true);
    expect(fits('lukasz 1378', 'Contract 1377', 'Łukasz Řehoř')).toBe(false);
  });
});
