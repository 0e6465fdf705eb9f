import { domainToUnicode } from 'node:url';

/** Letters without a Unicode decomposition, and characters that people type differently. */
const PLAIN: Readonly<Record<string, string>> = {
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ø: 'o',
  ŧ: 't',
  þ: 'th',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ς: 'σ',
  '’': "'",
  '‘': "'",
  '‐': '-',
  '‑': '-',
  '–': '-',
};
const SPECIAL = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');
/** Accents, after decomposition. */
const ACCENTS = /[\u0300-\u036f]/g;
const ASCII = /^[\0-\x7f]*$/;
/** A label of an international domain in its ASCII form. */
const PUNYCODE = /\bxn--[a-z0-9-]+/g;

/** Folds text for comparison without case and accents, so that `lukasz` matches `Łukasz`, and `xn--mller-kva` matches `müller`. */
export function foldText(text: string): string {
  const lower = text.toLowerCase().replace(PUNYCODE, (label) => domainToUnicode(label) || label);
  if (ASCII.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(SPECIAL, (letter) => PLAIN[letter] ?? letter);
}

/** Returns the folded words of a query, without surrounding brackets and quotes. */
export function wordsOf(question: string): string[] {
  return foldText(question)
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+(?=.*[\p{L}\p{N}])|(?<=[\p{L}\p{N}])[^\p{L}\p{N}]+$/gu, ''))
    .filter((word) => word !== '');
}

/**
 * Returns true if a word of the folded text begins with `word`. A word begins after a space or punctuation, and anywhere in scripts
 * without spaces.
 */
export function matchesWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !letter().test(characterBefore(text, at)) || unspaced().test(word)) return true;
  }
  return false;
}

/** Returns true if each of the words is the beginning of a word in the folded texts. */
export function matchesAllWords(texts: readonly string[], words: readonly string[]): boolean {
  return words.every((word) => texts.some((text) => matchesWord(text, word)));
}

// Unicode classes are slow to compile, so the pattern is created on first use.
const letter = () => /[\p{L}\p{N}\p{M}]$/u;
const unspaced = () =>
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Returns the character before an index, which may take two code units. */
function characterBefore(text: string, at: number): string {
  return text.slice(Math.max(0, at - 2), at);
}
