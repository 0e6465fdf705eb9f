import type { ItemResult } from '../../cli/batch.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { errorInWords, type RowResult, resultCells } from '../../runs/results.ts';

/** Returns how a row is reported: as a line in a pipe, and on a terminal only if it failed. */
export function reportedRow(
  file: string,
  result: RowResult,
  terminal: CommandTerminal,
): Pick<ItemResult, 'text' | 'failure'> {
  return {
    text: terminal.outIsTty ? undefined : resultLine(result),
    failure: result.ok ? undefined : `${failureLine(file, result)}\n`,
  };
}

/** Returns a row with a known outcome as tab-separated fields for a pipe: row, request ID, envelope ID, status, error. */
function resultLine(result: RowResult): string {
  return `${resultCells(result).map(safeLine).join('\t')}\n`;
}

/** Returns a failed row as a line for people: `people.csv:2  ada@example.com (Ada): …`. */
function failureLine(file: string, { row, line, signers = [], error }: RowResult): string {
  const where = line === null ? `row ${row}` : `${file}:${line}`;
  const who = signers.map(({ email, name }) =>
    name === email || name === '' ? email : `${email} (${name})`,
  );
  return safeLine(`${where}${who.length > 0 ? `  ${who.join(', ')}` : ''}: ${errorInWords(error)}`);
}
