import { NewTable } from '../output/new-table.ts';
import type { CommandTerminal } from './terminal.ts';

interface FileOutput {
  output?: string | undefined;
  force: boolean;
}

/**
 * Returns the table that `--output` names, or undefined for stdout. Call it before any other work.
 * @throws UsageError if the file can't be created, exists (unless `--force`), or has another format.
 */
export function outputTable({ output, force }: FileOutput, terminal: CommandTerminal): NewTable | undefined {
  if (output === undefined || output === '-') return undefined;
  return new NewTable(output, { force, redact: (text) => terminal.redactor.redact(text) });
}
