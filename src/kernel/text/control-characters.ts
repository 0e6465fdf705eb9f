/** Characters that can't be in one line of text: line breaks, tabs, escapes, and others that control a terminal or a header. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
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

/** Names a character that can't be seen. */
export function describeInvisible(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `an invisible character (U+${code})`;
}
