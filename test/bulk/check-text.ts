import { checkFile, type FileReport } from '../../src/bulk/rows/check-file.ts';
import type { RowDefaults } from '../../src/bulk/rows/check-row.ts';
import type { RunRow } from '../../src/runs/run-row.ts';
import type { ReadOptions } from '../../src/tables/open-table.ts';

/** A row without what identifies it, except for a request ID of the file. */
type Row = Omit<RunRow, 'content' | 'cells' | 'identity' | 'requestId'> & { requestId?: string };

/** The rows and the report of a text that arrives in chunks of this many bytes. */
export async function check(
  text: string | Buffer,
  piece = 7,
  options: RowDefaults & { read?: ReadOptions } = {},
): Promise<{ rows: Row[]; report: FileReport }> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += piece)
      yield await Promise.resolve(bytes.subarray(at, at + piece));
  }
  const rows: Row[] = [];
  const report = await checkFile(
    { name: 'f.csv', bytes: pieces() },
    { templateId: 'tmpl_1', ...options, take: (row) => void rows.push(withoutIdentity(row)) },
  );
  return { rows, report };
}
function withoutIdentity({ content: _, cells: __, identity, requestId, envelope, ...row }: RunRow): Row {
  const { content: ___, ...sent } = envelope;
  return { ...row, ...(identity === 'given' ? { requestId } : {}), envelope: sent };
}

/** The problems of a text: `LINE COLUMN: TEXT`. */
export const problems = async (text: string | Buffer) =>
  (await check(text)).report.problems
    .groups()
    .map(({ line, column, text: what }) => `${line} ${column}: ${what}`);
