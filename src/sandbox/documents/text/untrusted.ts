/**
 * Names, subjects, and values are user input, which may be malicious: a right-to-left override can make a signature look like another name.
 * Characters that would change the text around them are shown instead of applied.
 */

/** The offset of the private-use code points that stand for characters to be shown as code points. */
const SHOWN = 0xf0000;

const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/** Control characters, bidi embeddings and overrides, private-use characters, and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Co}\p{Cs}\u202a-\u202e\u2066\u2067]/gu;

/** Returns the text on one line, isolated so that its direction can't reorder the text around it. */
export function quoted(value: string): string {
  return FIRST_STRONG_ISOLATE + oneLine(value) + POP_ISOLATE;
}

/** Returns the text with white space collapsed and without bidi isolates. */
export function oneLine(value: string): string {
  return value
    .replace(/[\s\u0085]+/gu, ' ')
    .trim()
    .replace(/[\u2068\u2069]/gu, shown);
}

/** Returns the text for a file's properties, where boxes can't be drawn. */
export function plain(value: string): string {
  return oneLine(value).replace(UNPRINTABLE, '\ufffd');
}

/** Isolates a line of a quoted text again after line breaking, with the direction of the whole text. */
export function requoted(line: string, direction: 'ltr' | 'rtl'): string {
  return FIRST_STRONG_ISOLATE + (direction === 'rtl' ? '\u200f' : '\u200e') + line + POP_ISOLATE;
}

/** Returns the text inside the isolates added by `quoted`; undefined for a text that isn't a single quoted value. */
export function unquoted(text: string): string | undefined {
  return /^\u2068([^\u2068\u2069]*)\u2069$/u.exec(text)?.[1];
}

/** Returns the non-empty paragraphs of a value. */
export function paragraphsOf(value: string): string[] {
  return value
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/u)
    .map(oneLine)
    .filter((paragraph) => paragraph !== '');
}

/** Returns the text with every character that must not take effect replaced by one that `shownCodePoint` recognizes. */
export function protect(text: string): string {
  return text.replace(UNPRINTABLE, (character) =>
    shownCodePoint(character.codePointAt(0) ?? 0) === undefined ? shown(character) : character,
  );
}

/** Returns the code point that a protected character stands for; undefined for any other character. */
export function shownCodePoint(codePoint: number): number | undefined {
  return codePoint >= SHOWN && codePoint < SHOWN + 0x10000 ? codePoint - SHOWN : undefined;
}

function shown(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  // Characters in planes 15 and 16 have no room in the mapping. They are private-use characters without a public meaning.
  return String.fromCodePoint(SHOWN + (codePoint < 0x10000 ? codePoint : 0xfffd));
}
