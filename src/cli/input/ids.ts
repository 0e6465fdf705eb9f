import { UsageError } from '../../kernel/errors.ts';
import { tryParseJson } from '../../kernel/json.ts';
import type { CommandTerminal } from '../terminal.ts';
import { takeStdin } from './stdin.ts';

/** The IDs given on a command line. */
export interface Ids {
  ids: string[];
  /** Whether the output is a stream: with several arguments, even if they are equal, or with IDs from stdin. */
  stream: boolean;
  /** Whether stdin was read to its end, so that questions must be asked on the controlling terminal. */
  fromStdin: boolean;
}

/**
 * Reads the IDs given as arguments, each once and in order. `-` stands for the IDs on stdin, one per line. A notice shows if stdin is
 * empty, which would otherwise look like success.
 * @throws UsageError without IDs, or if one looks like a flag.
 */
export function readIds(
  words: readonly string[],
  what: IdKind,
  terminal: Noticing,
  stdin?: NodeJS.ReadableStream,
): Promise<Ids> {
  return read(words, what, { word: (word) => word.trim(), line: firstColumn, terminal, stdin });
}

/**
 * Reads storage keys in the same way. In a key, every character counts, so arguments are used unchanged. On stdin, a key that
 * contains a tab, or begins or ends with white space, is written as a JSON string.
 */
export function readKeys(
  words: readonly string[],
  terminal: Noticing,
  stdin?: NodeJS.ReadableStream,
): Promise<Ids> {
  const line = (text: string) => jsonString(text.trim()) ?? firstColumn(text);
  return read(words, 'storage key', { word: (word) => word, line, terminal, stdin });
}

type Noticing = Pick<CommandTerminal, 'notice'>;

interface Reading {
  /** Returns the ID in an argument or a line, or undefined if it is empty. */
  word: (word: string) => string;
  line: (line: string) => string;
  terminal: Noticing;
  stdin: NodeJS.ReadableStream | undefined;
}

/** Where to find the ids. */
const SOURCES = {
  'envelope ID': 'List the IDs with `esign envelopes list -q`.',
  'delivery ID': 'List the IDs with `esign events list -q`, or use --envelope or --since.',
  'storage key':
    "To show an envelope's keys, run `esign envelopes get ID`. To download its documents, run `esign envelopes download ID`.",
};
type IdKind = keyof typeof SOURCES;

async function read(words: readonly string[], what: IdKind, reading: Reading): Promise<Ids> {
  const ids: string[] = [];
  let isStdinRead = false;
  for (const word of words) {
    if (word === '-') {
      if (!isStdinRead) await readLines(ids, what, reading);
      isStdinRead = true;
    } else if (word.startsWith('-'))
      throw new UsageError(`Unknown flag ${word}.`, { hint: 'Use --help to see the available flags.' });
    else if (word.trim() !== '') ids.push(reading.word(word));
  }
  const fromStdin = words.includes('-');
  if (words.length === 0) {
    throw new UsageError(`Specify at least one ${what}, or \`-\` to read them from stdin.`, {
      hint: SOURCES[what],
    });
  }
  if (ids.length === 0 && fromStdin)
    reading.terminal.notice(`No ${what}s were read from stdin. Nothing was done.`);
  else if (ids.length === 0)
    throw new UsageError(`The ${what} is empty.`, {
      hint: 'Specify one, or `-` to read several from stdin.',
    });
  return { ids: [...new Set(ids)], stream: fromStdin || words.length > 1, fromStdin };
}

async function readLines(
  ids: string[],
  what: string,
  { line, stdin = takeStdin(`${what}s`) }: Reading,
): Promise<void> {
  const { createInterface } = await import('node:readline');
  for await (const text of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    const id = line(text);
    if (id) ids.push(id);
  }
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
