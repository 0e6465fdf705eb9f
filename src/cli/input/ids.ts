import type { Readable } from 'node:stream';
import { isatty } from 'node:tty';
import { UsageError } from '../../kernel/errors.ts';
import { readInput, takeStdin } from '../../kernel/files/user-file.ts';
import { tryParseJson } from '../../kernel/json.ts';
import { ENVELOPE_STATUSES } from '../../kernel/statuses.ts';
import { toUtf8 } from '../../kernel/text/utf8.ts';
import type { CommandTerminal } from '../terminal.ts';

/** Signers by ID or address, by envelope ID. */
export type SignersById = ReadonlyMap<string, readonly string[]>;

export interface ParsedIds {
  ids: string[];
  /** Whether the output is a stream: with several arguments, even if they are equal, or with IDs from stdin. */
  stream: boolean;
  /** Whether stdin was read to its end, so that questions must be asked on the controlling terminal. */
  fromStdin: boolean;
  /** The signers that lines on stdin name after their envelope, by envelope. An envelope that is also named alone is not included. */
  signers?: SignersById;
}

const SOURCES = {
  'envelope ID': 'List the IDs with `esign envelopes list -q`.',
  'delivery ID': 'List the IDs with `esign events list -q`.',
  'storage key':
    "To show an envelope's keys, run `esign envelopes get ID`. To download its documents, run `esign envelopes download ID`.",
};
type IdKind = keyof typeof SOURCES;
type NoticeTerminal = Pick<CommandTerminal, 'notice'>;

/**
 * Reads the IDs given as arguments, each once and in order. `-` stands for the IDs on stdin, one per line. A notice shows if stdin is
 * empty, which would otherwise look like success. In a storage key, every character counts, so arguments are used unchanged. On
 * stdin, a key that contains a tab, or begins or ends with white space, is written as a JSON string.
 * @throws UsageError without IDs.
 */
export async function readIds(
  words: readonly string[],
  what: IdKind,
  terminal: NoticeTerminal,
  stdin?: Readable,
): Promise<ParsedIds> {
  if (words.length === 0) {
    throw new UsageError(`Specify at least one ${what}, or \`-\` to read them from stdin.`, {
      hint: SOURCES[what],
    });
  }
  const ids: string[] = [];
  const signers = new Map<string, string[]>();
  for (const word of new Set(words)) {
    if (word === '-' && what === 'envelope ID') await readEnvelopeLines(ids, signers, terminal, stdin);
    else if (word === '-') await readLines(ids, what, terminal, stdin);
    else if (word.trim() !== '') ids.push(what === 'storage key' ? word : word.trim());
  }
  const fromStdin = words.includes('-');
  if (ids.length === 0) reportNone(what, fromStdin, terminal);
  const named = signers.size > 0 ? { signers } : {};
  return { ids: [...new Set(ids)], stream: fromStdin || words.length > 1, fromStdin, ...named };
}

/** Says on a terminal what the command waits for. */
function announceReading(what: IdKind, terminal: NoticeTerminal): void {
  if (isatty(0))
    terminal.notice(`Reading ${what}s, one per line. Press Ctrl-D at the end, or Ctrl-C to stop.`);
}

/** @throws UsageError unless the IDs come from stdin, where a command before may have found none. */
function reportNone(what: IdKind, fromStdin: boolean, terminal: NoticeTerminal): void {
  if (fromStdin) terminal.notice(`No ${what}s were read from stdin. Nothing was done.`);
  else
    throw new UsageError(`The ${what} is empty.`, {
      hint: 'Specify one, or `-` to read several from stdin.',
    });
}

/** Reads lines such as `env_1`, or `env_1 signer_1` from `late -q`. */
async function readEnvelopeLines(
  ids: string[],
  signers: Map<string, string[]>,
  terminal: NoticeTerminal,
  input?: Readable,
): Promise<void> {
  const alone = new Set(ids);
  for (const line of await linesOf('envelope ID', terminal, input)) {
    const [id = '', signer] = wordsOf(line);
    if (id === '') continue;
    ids.push(id);
    if (signer === undefined) alone.add(id);
    else signers.set(id, [...(signers.get(id) ?? []), signer]);
  }
  for (const id of alone) signers.delete(id);
}

/** Returns an ID and the signer after it. In a line of a list, which has more columns or a status, only the first column counts. */
function wordsOf(line: string): string[] {
  const [, second = '', ...more] = line.split('\t');
  const isList = more.length > 0 || ENVELOPE_STATUSES.some((status) => status === second.trim());
  return (isList ? firstColumn(line) : line).trim().split(/[ \t]+/);
}

/** @throws UsageError for JSON, whose lines would be taken for IDs. */
async function linesOf(what: IdKind, terminal: NoticeTerminal, given?: Readable): Promise<string[]> {
  if (given === undefined) announceReading(what, terminal);
  const input = given ?? takeStdin(`${what}s`);
  const text = toUtf8(await readInput(input, `The list of ${what}s`)).toString('utf8');
  if (what !== 'storage key' && /^\s*[{[]/.test(text))
    throw new UsageError(`stdin contains JSON instead of ${what}s. Nothing was done.`, {
      hint: 'Print only IDs with -q, such as `esign envelopes list -q`.',
    });
  return text.split(/\r\n|\r|\n/);
}

async function readLines(
  ids: string[],
  what: IdKind,
  terminal: NoticeTerminal,
  input?: Readable,
): Promise<void> {
  for (const line of await linesOf(what, terminal, input)) {
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
