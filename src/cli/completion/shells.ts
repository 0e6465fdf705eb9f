import type { Completion, CompletionCandidate } from './complete.ts';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/** The word at the cursor as typed, and its meaning so far. */
export interface TypedWord {
  words: string[];
  current: string;
  /** Returns the text that the shell inserts for a candidate, or undefined if it can't be inserted there. */
  insert(value: string): string | undefined;
}

/** Parses what a shell's script passes: `=` and the current word, followed by the words before it (in bash, the whole line). */
export function parseTypedWords(shell: Shell, handed: readonly string[]): TypedWord {
  const [marked = '=', ...words] = handed;
  const raw = marked.slice(1);
  if (shell === 'bash') return readBash(raw, words[0] ?? '');
  if (shell === 'powershell') return { words, current: unquote(raw, ''), insert: quoteForPowerShell };
  // zsh and fish quote the inserted text themselves.
  return { words, current: shell === 'fish' ? unquote(raw, '\\') : raw, insert: (value) => value };
}

/**
 * Returns the lines that a script reads: first `:none`, `:files`, or `:dirs`, then one candidate per line, followed by a
 * tab and its description if the shell shows one. Values that can't be written as a single line are left out.
 */
export function candidateLines(
  shell: Shell,
  completion: Completion,
  typed: TypedWord,
  clean: (text: string) => string,
) {
  const lines = completion.candidates.flatMap((candidate) => lineOf(shell, candidate, typed, clean) ?? []);
  return [`:${completion.paths}`, ...lines];
}

const MAX_LENGTH = 70;

function lineOf(
  shell: Shell,
  { value, description }: CompletionCandidate,
  typed: TypedWord,
  clean: (text: string) => string,
): string | undefined {
  const text = clean(value) === value ? typed.insert(value) : undefined;
  if (text === undefined || text === '') return undefined;
  if (shell === 'bash') return text;
  const shown = [...clean(description)].slice(0, MAX_LENGTH).join('');
  if (shell === 'powershell') return `${text}\t${value}\t${shown || value}`;
  return shown === '' ? text : `${text}\t${shown}`;
}

interface ShellToken {
  raw: string;
  value: string;
  /** The quote that is still open at the end of the word. */
  quote: string;
}

/** Parses the line of bash. bash replaces only the text after the last word break (`=`, `:`), so the text before it is cut off. */
function readBash(cursorWord: string, line: string): TypedWord {
  const tokens = tokenize(line);
  const last = tokens.pop() ?? { raw: '', value: '', quote: '' };
  const replaced = /^[=:<>|&;()]*$/.test(cursorWord) ? '' : cursorWord;
  const kept = last.raw.endsWith(replaced) ? last.raw.slice(0, last.raw.length - replaced.length) : '';
  const cut = tokenize(kept).at(-1)?.value.length ?? 0;
  const { quote } = last;
  // If a quote begins in the middle of a word, it is undefined where bash inserts the text.
  const odd = quote !== '' && !replaced.startsWith(quote);
  return {
    words: tokens.slice(1).map((token) => token.value),
    current: last.value,
    insert: (value) => (odd ? undefined : quoteForBash(value.slice(cut), quote)),
  };
}

/** Splits a command line into words by the rules of POSIX shells, without expanding anything. The last word may be empty. */
function tokenize(line: string): ShellToken[] {
  const tokens: ShellToken[] = [];
  let token: ShellToken = { raw: '', value: '', quote: '' };
  for (let i = 0; i < line.length; i++) {
    const character = line.charAt(i);
    if (token.quote === '' && /\s/.test(character)) {
      if (token.raw !== '') tokens.push(token);
      token = { raw: '', value: '', quote: '' };
      continue;
    }
    const next = line.charAt(i + 1);
    if (character === '\\' && escapes(token.quote, next)) {
      token.raw += character + next;
      token.value += next;
      i++;
    } else addTo(token, character);
  }
  return [...tokens, token];
}

function escapes(quote: string, next: string): boolean {
  return quote === '' || (quote === '"' && /[\\$`"]/.test(next));
}

function addTo(token: ShellToken, character: string): void {
  token.raw += character;
  if (token.quote === '' && (character === '"' || character === "'")) token.quote = character;
  else if (character === token.quote) token.quote = '';
  else token.value += character;
}

/** Quotes a value so that bash reads it back unchanged, either inside the open quote or outside of quotes. */
export function quoteForBash(value: string, quote = ''): string | undefined {
  if (quote === "'") return value.includes("'") ? undefined : value;
  // Inside double quotes, an exclamation mark can't be escaped.
  if (quote === '"') return value.includes('!') ? undefined : value.replaceAll(/[\\$`"]/g, '\\$&');
  return value.replaceAll(/[^\p{L}\p{N}_@%+=:,./-]/gu, '\\$&');
}

/** Quotes a value so that PowerShell reads it back unchanged. PowerShell recognizes five kinds of single quotes. */
export function quoteForPowerShell(value: string): string {
  return /^[\w./:=-]+$/.test(value) ? value : `'${value.replaceAll(/['\u2018-\u201b]/g, '$&$&')}'`;
}

/** Removes the quotes of a word and the escape characters before other characters. */
function unquote(word: string, escaping: string): string {
  let value = '';
  let quote = '';
  for (let i = 0; i < word.length; i++) {
    const character = word.charAt(i);
    if (character === escaping && quote !== "'" && i + 1 < word.length) value += word.charAt(++i);
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (character === quote) quote = '';
    else value += character;
  }
  return value;
}
