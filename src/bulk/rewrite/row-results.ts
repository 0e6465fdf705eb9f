import { errorInWords } from '../results.ts';
import type { StatusLine } from '../status/run-status.ts';
import { rowStateOf } from '../status/signer-states.ts';
import { type IntoCells, NO_RESULT } from './result-columns.ts';

/** Returns the result cells of each row of a run. */
export async function resultsByRow(lines: AsyncIterable<StatusLine>): Promise<Map<number, IntoCells>> {
  const results = new Map<number, IntoCells>();
  let current: StatusLine[] = [];
  const finish = () => {
    const row = current[0]?.row;
    if (typeof row === 'number') results.set(row, cellsOf(current));
    current = [];
  };
  for await (const line of lines) {
    if (line.row !== current[0]?.row) finish();
    current.push(line);
  }
  finish();
  return results;
}

/** Returns the result cells of a row: those of its envelope, and the ID of its replacement. */
function cellsOf(lines: readonly StatusLine[]): IntoCells {
  const [first] = lines;
  const own = lines.filter(({ envelopeId }) => envelopeId === first?.envelopeId);
  const isSigned = own.every(({ state }) => state === 'signed');
  const replacedBy = own.find((line) => line.replacedBy !== undefined)?.replacedBy;
  return {
    ...NO_RESULT,
    esign_row_status: rowStateOf(own.map(({ state }) => state)) ?? '',
    esign_envelope_id: first?.envelopeId ?? '',
    esign_signed_at: isSigned
      ? (own
          .map(({ signedAt }) => signedAt ?? '')
          .toSorted()
          .at(-1) ?? '')
      : '',
    esign_waiting_for: own
      .filter(({ state }) => state === 'waiting')
      .map(({ name, email }) => name ?? email ?? '')
      .join('; '),
    esign_error: replacedBy === undefined ? errorInWords(first?.error ?? null) : `Replaced by ${replacedBy}`,
  };
}
