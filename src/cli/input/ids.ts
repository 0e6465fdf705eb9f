import { createInterface } from 'node:readline';
import { UsageError } from '../../kernel/errors.ts';

/** The ids of a command line, and whether its output is a stream (several, or ids from stdin). */
export interface Ids {
  ids: string[];
  stream: boolean;
}

/**
 * The ids given as arguments; `-` stands for those on stdin, one a line. Each once, in order.
 * @throws UsageError when there are none, or one looks like a flag.
 */
export async function readIds(
  words: readonly string[],
  what: string,
  stdin?: NodeJS.ReadableStream,
): Promise<Ids> {
  const ids: string[] = [];
  for (const word of words) {
    if (word === '-') ids.push(...(await readLines(stdin ?? process.stdin)));
    else if (word.startsWith('-'))
      throw new UsageError(`There is no flag ${word}.`, { hint: 'See the flags with --help.' });
    else if (word.trim() !== '') ids.push(word.trim());
  }
  const fromStdin = words.includes('-');
  if (words.length === 0) {
    throw new UsageError(`Give at least one ${what}, or - to read them from stdin.`, {
      hint: 'Ids are what the list commands print with -q.',
    });
  }
  if (ids.length === 0 && !fromStdin)
    throw new UsageError(`The ${what} is empty.`, {
      hint: 'Name one, or give - to read several from stdin.',
    });
  const unique = [...new Set(ids)];
  return { ids: unique, stream: fromStdin || unique.length > 1 };
}

async function readLines(stdin: NodeJS.ReadableStream): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    // Of a tab-separated line the first column is the id, so that a list without -q can be piped, too.
    const id = line.split('\t')[0]?.trim();
    if (id) lines.push(id);
  }
  return lines;
}
