import type { FileReport, Findings } from '../../bulk/rows/check-file.ts';
import { streamFile } from '../../cli/input/files.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { safeBlock } from '../../output/text.ts';
import type { FileSource } from '../../tables/table-file.ts';

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

/** Prints bytes in large chunks, to avoid a write for each row. On a terminal, control characters are made visible. */
export function partWriter(terminal: Pick<CommandTerminal, 'out' | 'outIsTty'>) {
  const parts: Buffer[] = [];
  let size = 0;
  async function end(): Promise<void> {
    if (size === 0) return;
    size = 0;
    const bytes = Buffer.concat(parts.splice(0));
    await terminal.out(terminal.outIsTty ? safeBlock(bytes.toString('utf8')) : bytes);
  }
  async function write(bytes: Buffer): Promise<void> {
    parts.push(bytes);
    size += bytes.length;
    if (size >= CHUNK) await end();
  }
  return { write, end };
}
