/*
 * Names, subjects, and values are user input, which may be malicious: a right-to-left override can make a signature look like another name.
 * Characters that would change the text around them become U+FFFD.
 */

/** Control characters, bidi controls, private-use characters, and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Co}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns the text on one line, with characters composed as the fonts have them. */
export function onOneLine(value: string): string {
  return value
    .normalize('NFC')
    .replace(/[\s\u0085]+/gu, ' ')
    .trim()
    .replace(UNPRINTABLE, '\ufffd');
}

/** Returns the non-empty paragraphs of a value. */
export function paragraphsOf(value: string): string[] {
  return value
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/u)
    .map(onOneLine)
    .filter((paragraph) => paragraph !== '');
}
