import { ownValue } from '../../kernel/json.ts';
import type { CommandFacts, CommandTree, FlagFacts } from './command-tree.ts';

/** The parsed command line up to the cursor. */
export interface CompletionLine {
  /** The command, such as `envelopes:list`, or a topic. */
  path: string;
  command: CommandFacts | undefined;
  /** The positional arguments. */
  args: string[];
  /** Flags by name. A flag without a value is ''. */
  flags: Map<string, string>;
  /** The flag whose value is next, if any. */
  pending: FlagFacts | undefined;
  /** Whether there was a `--`, after which nothing is a flag. */
  flagsEnded: boolean;
}

/** Parses the words before the one to complete. */
export function parseTypedLine(tree: CommandTree, words: readonly string[]): CompletionLine {
  const depth = commandDepth(tree, words);
  const path = words.slice(0, depth).join(':');
  const line: CompletionLine = {
    path,
    command: ownValue(tree.commands, path),
    args: [],
    flags: new Map(),
    pending: undefined,
    flagsEnded: false,
  };
  for (const word of words.slice(depth)) readWord(line, word);
  return line;
}

/** Returns how many of the first words name a command or topic. */
function commandDepth(tree: CommandTree, words: readonly string[]): number {
  const ids = Object.keys(tree.commands);
  let depth = 0;
  while (depth < words.length && !words[depth]?.startsWith('-')) {
    const path = words.slice(0, depth + 1).join(':');
    if (!ids.some((id) => id === path || id.startsWith(`${path}:`))) break;
    depth++;
  }
  return depth;
}

function readWord(line: CompletionLine, word: string): void {
  if (line.pending) {
    line.flags.set(line.pending.name, word);
    line.pending = undefined;
  } else if (line.flagsEnded || word === '-' || !word.startsWith('-')) line.args.push(word);
  else if (word === '--') line.flagsEnded = true;
  else readFlag(line, word);
}

function readFlag(line: CompletionLine, word: string): void {
  const [, long, value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  const flag = long === undefined ? flagOfLetters(line, word) : findFlag(line, long);
  if (flag === undefined) return;
  line.flags.set(flag.name, value ?? '');
  if (flag.type === 'option' && value === undefined && !attachedValue(line, word)) line.pending = flag;
}

/** Returns the flag with this name, including `--no-…`. */
export function findFlag(line: CompletionLine, name: string): FlagFacts | undefined {
  const flags = line.command?.flags ?? {};
  const positive = ownValue(flags, name.replace(/^no-/, ''));
  return ownValue(flags, name) ?? (positive?.allowNo ? positive : undefined);
}

/** Returns the last flag in `-q`, `-yq`, or `-p`, which may need a value. */
function flagOfLetters(line: CompletionLine, word: string): FlagFacts | undefined {
  const flags = Object.values(line.command?.flags ?? {});
  const first = flags.find((flag) => flag.char === word.charAt(1));
  return first?.type === 'option' ? first : flags.find((flag) => flag.char === word.at(-1));
}

/** Returns true if a short flag's value is in the same word, as in `-pacme`. */
function attachedValue(line: CompletionLine, word: string): boolean {
  if (word.startsWith('--') || word.length <= 2) return false;
  return flagOfLetters(line, word.slice(0, 2))?.type === 'option';
}
