/** Letters that no decomposition makes plain, and signs that people type differently from how they are written. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{ ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ı: 'i', ø: 'o', ŧ: 't', þ: 'th', ß: 'ss', æ: 'ae', œ: 'oe', ς: 'σ' },
  ...{ '’': "'", '‘': "'", '‐': '-', '‑': '-', '–': '-' },
};
const SPECIAL = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');
/** Accents and the like, once they stand on their own. */
const ACCENTS = /[\u0300-\u036f]/g;
const ASCII = /^[\0-\x7f]*$/;

/** Text as it is compared: case and accents do not count, so `lukasz` is `Łukasz`. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  if (ASCII.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(SPECIAL, (letter) => PLAIN[letter] ?? letter);
}

/** The words of a question, folded; brackets, quotes and the like around a word are none of it. */
export function wordsOf(question: string): string[] {
  return folded(question)
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+(?=.*[\p{L}\p{N}])|(?<=[\p{L}\p{N}])[^\p{L}\p{N}]+$/gu, ''))
    .filter((word) => word !== '');
}

/** True when a word of the folded text begins with `word`: after a blank or sign, or anywhere in scripts without blanks. */
export function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !letter().test(before(text, at)) || unspaced().test(word)) return true;
  }
  return false;
}

/** True when each word begins a word of the folded texts, wherever in them. */
export function hasWords(texts: readonly string[], words: readonly string[]): boolean {
  return words.every((word) => texts.some((text) => hasWord(text, word)));
}

// Classes of Unicode take their time to be read: not before they are needed.
const letter = () => /[\p{L}\p{N}\p{M}]$/u;
const unspaced = () =>
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** The character before a place, whole where it takes two units. */
function before(text: string, at: number): string {
  return text.slice(Math.max(0, at - 2), at);
}
