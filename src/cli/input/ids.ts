import { UsageError } from '../../kernel/errors.ts';
import { takeStdin } from '../../kernel/files/user-file.ts';
import { tryParseJson } from '../../kernel/json.ts';
import type { CommandTerminal } from '../terminal.ts';
import { UnknownFlagError } from './unknown-flag.ts';

export interface Ids {
  ids: string[];
  /** Whether the output is a stream: with several arguments, even if they are equal, or with IDs from stdin. */
  stream: boolean;
  /** Whether stdin was read to its end, so that questions must be asked on the controlling terminal. */
  fromStdin: boolean;
}

const SOURCES = {
  'envelope ID': 'List the IDs with `esign envelopes list -q`.',
  'delivery ID': 'List the IDs with `esign events list -q`, or use --envelope or --since.',
  'storage key':
    "To show an envelope's keys, run `esign envelopes get ID`. To download its documents, run `esign envelopes download ID`.",
};
type IdKind = keyof typeof SOURCES;

/**
 * Reads the IDs given as arguments, each once and in order. `-` stands for the IDs on stdin, one per line. A notice shows if stdin is
 * empty, which would otherwise look like success. In a storage key, every character counts, so arguments are used unchanged. On
 * stdin, a key that contains a tab, or begins or ends with white space, is written as a JSON string.
 * @throws UsageError without IDs, or if one looks like a flag.
 */
export async function readIds(
  words: readonly string[],
  what: IdKind,
  terminal: Pick<CommandTerminal, 'notice'>,
  stdin?: NodeJS.ReadableStream,
): Promise<Ids> {
  refuseFlags(words);
  if (words.length === 0) {
    throw new UsageError(`Specify at least one ${what}, or \`-\` to read them from stdin.`, {
      hint: SOURCES[what],
    });
  }
  const ids: string[] = [];
  for (const word of new Set(words)) {
    if (word === '-') await readLines(ids, what, stdin);
    else if (word.trim() !== '') ids.push(what === 'storage key' ? word : word.trim());
  }
  const fromStdin = words.includes('-');
  if (ids.length === 0 && fromStdin) terminal.notice(`No ${what}s were read from stdin. Nothing was done.`);
  else if (ids.length === 0)
    throw new UsageError(`The ${what} is empty.`, {
      hint: 'Specify one, or `-` to read several from stdin.',
    });
  return { ids: [...new Set(ids)], stream: fromStdin || words.length > 1, fromStdin };
}

function refuseFlags(words: readonly string[]): void {
  for (const word of words) if (word.startsWith('-') && word !== '-') throw new UnknownFlagError(word);
}

async function readLines(
  ids: string[],
  what: IdKind,
  input: NodeJS.ReadableStream = takeStdin(`${what}s`),
): Promise<void> {
  const { createInterface } = await import('node:readline');
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const id = what === 'storage key' ? keyIn(line) : firstColumn(line);
    if (id) ids.push(id);
  }
}

function keyIn(line: string): string {
  return jsonString(line.trim()) ?? firstColumn(line);
}

/** Returns the first column of a tab-separated line, so that a list without -q can be piped as well. */
function firstColumn(line: string): string {
  return line.split('\t')[0]?.trim() ?? '';
}

function jsonString(text: string): string | undefined {
  if (!text.startsWith('"')) return undefined;
  const value = tryParseJson(text);
  return typeof value === 'string' ? value : undefined;
}
