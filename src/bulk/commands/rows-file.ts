import { streamFile } from '../../cli/input/files.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeBlock } from '../../output/text.ts';
import type { FileSource } from '../../tables/table-file.ts';

/** Opens the file of rows that an argument names. `-` is stdin. */
export function sourceOf(path: string): FileSource {
  const name = path === '-' ? 'stdin' : path;
  return { name, bytes: streamFile(path, 'list of rows', name) };
}

const CHUNK = 64 * 1024;

/** Prints text in large chunks, to avoid a write for each row. On a terminal, control characters are made visible. */
export function bufferedWriter(terminal: Pick<Terminal, 'out' | 'outIsTty'>) {
  let text = '';
  async function end(): Promise<void> {
    const all = text;
    text = '';
    if (all !== '') await terminal.out(terminal.outIsTty ? safeBlock(all) : all);
  }
  async function write(part: string): Promise<void> {
    text += part;
    if (text.length >= CHUNK) await end();
  }
  return { write, end };
}
