import { safeLine } from './safe-text.ts';

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A flag, alone or with its value. */
const FLAG = /^(--?[\w-]+)(?:=(.*))?$/s;

/**
 * Returns an esign command for copying. Words are quoted for a shell if needed, because IDs from the service could contain
 * anything. For example, `command('envelopes', 'get', envelope.id)`.
 */
export function command(...words: readonly string[]): string {
  return ['esign', ...words.map(flagOrWord)].join(' ');
}

/** Returns words from the service for a hint. One with a backtick could look like a command of ours, so it is left out. */
export function wordsForHint(words: readonly string[]): string[] {
  return words.filter((word) => !word.includes('`'));
}

/** Leaves flags unquoted, although shellWord quotes everything that begins with a dash. */
function flagOrWord(word: string): string {
  const [, flag, value] = FLAG.exec(word) ?? [];
  if (flag === undefined) return shellWord(word);
  return value === undefined ? flag : `${flag}=${shellWord(value)}`;
}

/** The character that continues a command on the next line. */
export const LINE_CONTINUATION = process.platform === 'win32' ? '`' : '\\';

/** Quotes a word for PowerShell on Windows and for a POSIX shell elsewhere. The result is safe to show on a terminal. */
export function shellWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (word === '-' || (PLAIN.test(word) && !word.startsWith('-'))) return word;
  const isShown = safeLine(word) === word;
  if (platform === 'win32') return powerShellWord(word, isShown);
  return isShown ? `'${word.replaceAll("'", `'\\''`)}'` : `$'${escaped(word, "'\\", posixEscape)}'`;
}

function powerShellWord(word: string, isShown: boolean): string {
  return isShown
    ? `'${word.replace(/['\u2018-\u201b]/g, '$&$&')}'`
    : `"${escaped(word, '"`$“”„', powerShellEscape)}"`;
}

/** Escapes characters that have a meaning between the quotes or are invisible. */
function escaped(
  word: string,
  special: string,
  toEscape: (character: string, isSpecial: boolean) => string,
): string {
  return Array.from(word, (character) => {
    const isSpecial = special.includes(character);
    return isSpecial || safeLine(character) !== character ? toEscape(character, isSpecial) : character;
  }).join('');
}

function posixEscape(character: string, isSpecial: boolean): string {
  if (isSpecial) return `\\${character}`;
  if (character === '\n') return '\\n';
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

function powerShellEscape(character: string, isSpecial: boolean): string {
  if (isSpecial) return `\`${character}`;
  if (character === '\n') return '`n';
  // Windows PowerShell 5.1 doesn't support `u{…}.
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `$([char]::ConvertFromUtf32(0x${hex(code, 1)}))` : `$([char]0x${hex(code, 4)})`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
