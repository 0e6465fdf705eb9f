import { statSync } from 'node:fs';
import { streamFile } from '../../cli/input/files.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { UsageError } from '../../kernel/errors.ts';
import { checkNewFile, formatOf, writeNewFile } from '../../kernel/files/new-file.ts';
import { createdText, NewTable, TABLE_FORMATS } from '../../output/new-table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeBlock } from '../../output/text.ts';
import type { FileSource } from '../../tables/open-table.ts';
import type { TableCell } from '../../tables/table-cell.ts';
import type { SourceFile } from '../rewrite/source-file.ts';

/** Opens the file of rows that an argument names. `-` is stdin. */
export function openRowsSource(path: string): FileSource {
  const name = path === '-' ? 'stdin' : path;
  return { name, bytes: streamFile(path, 'list of rows', name) };
}

/** Where the rows of a source file are written. */
export interface RowsFileFlags {
  output?: string | undefined;
  force: boolean;
}

/**
 * Checks the file to which rows of `source` are written, before they are read.
 * @throws UsageError if it can't be created, exists (unless `--force`), has another format, or is the source itself.
 */
export function checkRowsFile({ output, force }: RowsFileFlags, source: string | undefined): void {
  if (output === undefined || output === '-') return;
  formatOf(output, [...TABLE_FORMATS, 'jsonl']);
  if (source !== undefined && isSameFile(source, output))
    throw new UsageError(`${output} is your source file, which is never changed.`, {
      hint: 'Choose a different name for the results. Other sheets, formats, and formulas are not copied.',
    });
  checkNewFile(output, force);
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Writes the header and the rows of a source file. */
export interface RowWriter {
  write(cells: readonly TableCell[]): Promise<void>;
  /** Finishes the output. `rows` is the number of rows, for the notice. */
  end(rows: number): Promise<void>;
}

/**
 * Returns a writer to stdout in the format of the source file, or to the file that the flags name.
 * @throws UsageError if that file has a format that the source file can't become.
 */
export function rowWriter(
  source: SourceFile,
  { output, force }: RowsFileFlags,
  terminal: CommandTerminal,
): RowWriter {
  const redact = (text: string) => terminal.redactor.redact(text);
  if (output === undefined || output === '-') {
    const { write, end } = bufferedWriter(terminal.hidingSecrets());
    return { write: (cells) => write(source.textOf(cells)), end };
  }
  if (source.isJson) {
    formatOf(output, ['jsonl']);
    const lines: string[] = [];
    return {
      write: async (cells) => void lines.push(redact(source.textOf(cells))),
      end: async (rows) => {
        await writeNewFile(output, lines.join(''), force);
        terminal.notice(createdText(output, rows));
      },
    };
  }
  formatOf(output, TABLE_FORMATS);
  const table = new NewTable(output, { force, redact, delimiter: source.delimiter, sheet: source.sheet });
  return {
    write: async (cells) => table.add(cells),
    end: async () => terminal.notice(await table.save()),
  };
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
