/**
 * People type names, subjects, and values, and some are hostile: a right-to-left override can make
 * a signature read as another name. Characters that would change the text around them are shown instead of applied.
 */

/** Where a character that must be shown as its code point is kept until it is drawn. */
const SHOWN = 0xf0000;

const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/** Controls, bidi embeddings and overrides, private use, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Co}\p{Cs}\u202a-\u202e\u2066\u2067]/gu;

/** The text on one line, isolated so that its direction can't reorder the text around it. */
export function quoted(value: string): string {
  return FIRST_STRONG_ISOLATE + oneLine(value) + POP_ISOLATE;
}

/** The text with each run of white space as one space, and without the power to isolate. */
export function oneLine(value: string): string {
  return value
    .replace(/[\s\u0085]+/gu, ' ')
    .trim()
    .replace(/[\u2068\u2069]/gu, shown);
}

/** The text for a file's properties, where there is nothing to draw a box with. */
export function plain(value: string): string {
  return oneLine(value).replace(UNPRINTABLE, '\ufffd');
}

/** A line of a quoted text that was broken: fenced off again, in the direction of the whole. */
export function requoted(line: string, direction: 'ltr' | 'rtl'): string {
  return FIRST_STRONG_ISOLATE + (direction === 'rtl' ? '\u200f' : '\u200e') + line + POP_ISOLATE;
}

/** What `quoted` fenced off; undefined for a text that is not one quoted value. */
export function unquoted(text: string): string | undefined {
  return /^\u2068([^\u2068\u2069]*)\u2069$/u.exec(text)?.[1];
}

/** The paragraphs of a value, without empty ones. */
export function paragraphsOf(value: string): string[] {
  return value
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/u)
    .map(oneLine)
    .filter((paragraph) => paragraph !== '');
}

/** The text with every character that must not be obeyed moved to where `shownCodePoint` knows it. */
export function protect(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (isShown(character) ? character : shown(character)));
}

/** The code point a protected character stands for; undefined for any other. */
export function shownCodePoint(codePoint: number): number | undefined {
  return codePoint >= SHOWN && codePoint < SHOWN + 0x10000 ? codePoint - SHOWN : undefined;
}

function shown(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  // Planes 15 and 16 do not fit beside themselves; their characters have no meaning to anybody but their owner.
  return String.fromCodePoint(SHOWN + (codePoint < 0x10000 ? codePoint : 0xfffd));
}

function isShown(character: string): boolean {
  return shownCodePoint(character.codePointAt(0) ?? 0) !== undefined;
}
