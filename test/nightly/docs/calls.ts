import type { CommandTree } from '../../../src/cli/completion/command-tree.ts';
import { type CompletionLine, findFlag, parseTypedLine } from '../../../src/cli/completion/line.ts';

/** Returns the problems of a call in a page or a help text, by the manifest: unknown commands and flags. */
export function problemOf(tree: CommandTree, call: string): string {
  const all: readonly string[] = call.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  // The rest belongs to another program.
  const words = all.includes('--') ? all.slice(0, all.indexOf('--')) : all;
  if (words[0]?.startsWith('-') || words[0] === '…') return '';
  const line = parseTypedLine(tree, words);
  if (line.command === undefined) return line.path === '' ? `no command: ${call}` : '';
  const unknown = [...unknownFlags(line, words), ...unknownLetters(line, words)];
  return unknown.length === 0 ? '' : `no flag ${unknown.join(', ')}: ${call}`;
}

function unknownFlags(line: CompletionLine, words: readonly string[]): string[] {
  return words
    .filter((one) => one.startsWith('--') && one !== '--help')
    .map((one) => one.slice(2).split('=')[0] ?? '')
    .filter((name) => findFlag(line, name) === undefined);
}

function unknownLetters(line: CompletionLine, words: readonly string[]): string[] {
  const letters = Object.values(line.command?.flags ?? {}).map((flag) => flag.char);
  return words
    .filter((one) => /^-[a-zA-Z]$/.test(one))
    .map((one) => one.slice(1))
    .filter((letter) => !letters.includes(letter));
}

/** Returns missing required flags and arguments, and words that nothing accepts. */
export function incompleteness(tree: CommandTree, call: string): string {
  const words = call.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const line = parseTypedLine(tree, words);
  const { command } = line;
  if (command === undefined) return `no command: ${call}`;
  const required = (one: object) => 'required' in one && one.required === true;
  const flags = Object.values(command.flags).filter((flag) => required(flag) && !line.flags.has(flag.name));
  if (flags.length > 0) return `lacks --${flags.map(({ name }) => name).join(', --')}: ${call}`;
  const args = Object.values(command.args);
  if (line.args.length < args.filter(required).length) return `lacks an argument: ${call}`;
  if (command.strict !== false && line.args.length > args.length) return `one argument too many: ${call}`;
  return line.pending === undefined ? '' : `--${line.pending.name} has no value: ${call}`;
}
