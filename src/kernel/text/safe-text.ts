/*
 * Text from the service or a webhook is untrusted. On a terminal, control characters, escape sequences, and direction overrides
 * could hide or forge what an operator reads, so they are made visible. Unicode classes are slow to compile, so each pattern is
 * created on first use.
 */
const unsafe = () =>
  // Control and format characters (direction, zero width, tags), line separators, lone surrogates, and invisible letters.
  // The two variation selectors of emoji are allowed.
  /(?![\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

const NAMES: Readonly<Record<string, string>> = { '\n': '⏎', '\r': '␍', '\t': '␉', '\u001b': '␛' };
/** Zero-width joiners are allowed between emoji and in scripts that need them. */
const JOINER = '\u200d';
const NON_JOINER = '\u200c';
const joining = () =>
  /\p{Extended_Pictographic}|\p{Script=Arabic}|\p{Script=Devanagari}|\p{Script=Bengali}|\p{Script=Sinhala}|\p{Script=Malayalam}|\ufe0f|\p{Emoji_Modifier}/u;

/** More combining marks on one character than any script uses. They would cover the lines around it. */
const manyMarks = () => /(\p{M}{8})\p{M}+/gu;

/** Returns the text on one line, with visible replacements for characters that could affect a terminal, and at most 8 marks per character. */
export function safeLine(text: string): string {
  return text.replace(manyMarks(), '$1…').replace(unsafe(), (character, index: number) => {
    if (isJoiningCharacter(character, text, index)) return character;
    return NAMES[character] ?? makeVisible(character);
  });
}

function isJoiningCharacter(character: string, text: string, index: number): boolean {
  if (character !== JOINER && character !== NON_JOINER) return false;
  const before = [...text.slice(Math.max(0, index - 2), index)].at(-1) ?? '';
  return joining().test(before);
}

function makeVisible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `<${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Works like safeLine, but keeps line breaks. */
export function safeBlock(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map(safeLine)
    .join('\n');
}

/** Escapes characters in JSON text that could affect a terminal. Its value and the line breaks between tokens don't change. */
export function safeJson(text: string): string {
  return text.replace(unsafe(), (character, index: number) => {
    if (character === '\n' || isJoiningCharacter(character, text, index)) return character;
    return unicodeEscapes(character);
  });
}

/** Escapes each code unit of a character as in JSON. */
export function unicodeEscapes(character: string): string {
  const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return character.split('').map(escapeOf).join('');
}
