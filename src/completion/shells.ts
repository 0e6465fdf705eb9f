import type { Completion, CompletionCandidate } from './complete.ts';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/** The word at the cursor as it was typed, and what it means so far. */
export interface Typed {
  words: string[];
  current: string;
  /** Turns a candidate into what the shell inserts; undefined where it can't be written there. */
  insert(value: string): string | undefined;
}

/** What a shell's script hands over: `=` and the current word, then the words before it (bash: the whole line). */
export function readTyped(shell: Shell, handed: readonly string[]): Typed {
  const [marked = '=', ...words] = handed;
  const raw = marked.slice(1);
  if (shell === 'bash') return readBash(raw, words[0] ?? '');
  if (shell === 'powershell') return { words, current: unquote(raw, ''), insert: quoteForPowerShell };
  // zsh and fish quote what they insert themselves.
  return { words, current: shell === 'fish' ? unquote(raw, '\\') : raw, insert: (value) => value };
}

/**
 * The lines a script reads: first `:none`, `:files` or `:dirs`, then a candidate each, with its description
 * behind a tab where the shell shows one. A value that would not be one clean line is left out.
 */
export function replyLines(
  shell: Shell,
  completion: Completion,
  typed: Typed,
  clean: (text: string) => string,
) {
  const lines = completion.candidates.flatMap((candidate) => lineOf(shell, candidate, typed, clean) ?? []);
  return [`:${completion.paths}`, ...lines];
}

const LONGEST = 70;

function lineOf(
  shell: Shell,
  { value, description }: CompletionCandidate,
  typed: Typed,
  clean: (text: string) => string,
): string | undefined {
  const text = clean(value) === value ? typed.insert(value) : undefined;
  if (text === undefined || text === '') return undefined;
  if (shell === 'bash') return text;
  const shown = [...clean(description)].slice(0, LONGEST).join('');
  if (shell === 'powershell') return `${text}\t${value}\t${shown || value}`;
  return shown === '' ? text : `${text}\t${shown}`;
}

interface Token {
  raw: string;
  value: string;
  /** The quote that is still open at its end. */
  quote: string;
}

/** bash replaces only the text after the last word break (`=`, `:`), so the rest is cut off. */
function readBash(cursorWord: string, line: string): Typed {
  const tokens = tokenize(line);
  const last = tokens.pop() ?? { raw: '', value: '', quote: '' };
  const replaced = /^[=:<>|&;()]*$/.test(cursorWord) ? '' : cursorWord;
  const kept = last.raw.endsWith(replaced) ? last.raw.slice(0, last.raw.length - replaced.length) : '';
  const cut = tokenize(kept).at(-1)?.value.length ?? 0;
  const { quote } = last;
  // With a quote in the middle of a word, it isn't defined where bash inserts the text.
  const odd = quote !== '' && !replaced.startsWith(quote);
  return {
    words: tokens.slice(1).map((token) => token.value),
    current: last.value,
    insert: (value) => (odd ? undefined : quoteForBash(value.slice(cut), quote)),
  };
}

/** The words of a command line by the rules of POSIX shells, expanding nothing. The last may be empty. */
function tokenize(line: string): Token[] {
  const tokens: Token[] = [];
  let token: Token = { raw: '', value: '', quote: '' };
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

function addTo(token: Token, character: string): void {
  token.raw += character;
  if (token.quote === '' && (character === '"' || character === "'")) token.quote = character;
  else if (character === token.quote) token.quote = '';
  else token.value += character;
}

/** A value as bash reads it back unchanged, inside the quote that is open or outside of any. */
export function quoteForBash(value: string, quote = ''): string | undefined {
  if (quote === "'") return value.includes("'") ? undefined : value;
  // Inside double quotes an exclamation mark can't be escaped.
  if (quote === '"') return value.includes('!') ? undefined : value.replaceAll(/[\\$`"]/g, '\\$&');
  return value.replaceAll(/[^\p{L}\p{N}_@%+=:,./-]/gu, '\\$&');
}

/** A value as PowerShell reads it back unchanged; it knows five kinds of single quote. */
export function quoteForPowerShell(value: string): string {
  return /^[\w./:=-]+$/.test(value) ? value : `'${value.replaceAll(/['\u2018-\u201b]/g, '$&$&')}'`;
}

/** The word without its quotes, and without the escape characters before others. */
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
