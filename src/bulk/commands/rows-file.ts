import { streamFile } from '../../cli/input/files.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeBlock } from '../../output/text.ts';
import type { FileSource } from '../../tables/table-file.ts';
import type { FileReport, Findings } from '../rows/check-file.ts';

/** Opens the file of rows that an argument names. `-` is stdin. */
export function sourceOf(path: string): FileSource {
  const name = path === '-' ? 'stdin' : path;
  return { name, bytes: streamFile(path, 'list of rows', name) };
}

/** Returns the findings, one line each. */
export function linesOf(findings: Findings, name: string): string[] {
  const lines = findings.first.map(
    ({ line, column, text }) =>
      `${name}:${line}${column === '' ? '' : ` ${column}`}: ${text}${text.endsWith('?') ? '' : '.'}`,
  );
  const more = findings.count - findings.first.length;
  return more > 0 ? [...lines, `… and ${grouped(more)} more.`] : lines;
}

/** Returns the error for a file with problems. */
export function refused({ problems, name }: Pick<FileReport, 'problems' | 'name'>): UsageError {
  return new UsageError(
    `${counted(problems.count, 'problem')} in ${name}; nothing was sent.\n${linesOf(problems, name).join('\n')}`,
    { hint: 'Fix the file and run the same command again.' },
  );
}

const CHUNK = 64 * 1024;

/** Prints text in large chunks, to avoid a write for each row. On a terminal, control characters are made visible. */
export function partWriter(terminal: Pick<Terminal, 'out' | 'outIsTty'>) {
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
