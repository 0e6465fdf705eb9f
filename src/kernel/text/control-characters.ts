/**
 * Characters that can't be in one line of text: line breaks, tabs, escapes, and others that control a terminal or a header. Half a
 * character (a lone surrogate) can't be sent as UTF-8.
 */
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const NAMES: Readonly<Record<string, string>> = {
  '\n': 'a line break',
  '\r': 'a line break',
  '\u2028': 'a line break',
  '\u2029': 'a line break',
  '\t': 'a tab',
};

/** Returns why a text is not one printable line, such as a name or a subject, worded as part of a sentence. */
export function lineProblem(text: string): string | undefined {
  const found = CONTROL.exec(text)?.[0];
  return found && `contains ${NAMES[found] ?? describeInvisible(found)}; remove it`;
}

/** Returns why a text of several lines, such as a message, is not printable, worded as part of a sentence. */
export function textProblem(text: string): string | undefined {
  return lineProblem(text.replaceAll(/[\n\r\t\u2028\u2029]/g, ''));
}

/** Returns why a text can't be the subject of an email, worded as part of a sentence. */
export function subjectProblem(text: string): string | undefined {
  return text.trim() === '' ? 'is empty; fill it in or leave it out' : lineProblem(text);
}

/** A text as the header of an email encodes it (RFC 2047), such as `=?UTF-8?Q?J=C3=BCrgen?=`. */
const ENCODED_WORD = /=\?[\w-]+(?:\*[\w-]+)?\?[BQ]\?[^?\s]*\?=/i;

/** Returns why a text can't be the name of a person, worded as part of a sentence. */
export function nameProblem(text: string): string | undefined {
  return ENCODED_WORD.test(text)
    ? 'is encoded as in an email header; write it in plain letters'
    : lineProblem(text);
}

/** Names a character that can't be seen. */
export function describeInvisible(character: string): string {
  if (/\p{Cs}/u.test(character)) return 'half a character, such as of an emoji that was cut';
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `an invisible character (U+${code})`;
}
