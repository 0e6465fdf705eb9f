import { openTableFile } from '../../src/tables/open-table.ts';
import type { TableFinding } from '../../src/tables/table-types.ts';
import { type TestBook, xlsxOf } from '../support/xlsx.ts';

async function* pieces(bytes: Buffer, size = 65_536) {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

/** The cells of each row and the findings, of a workbook or its bytes. */
export async function readSheet(book: TestBook | Buffer, sheet?: string) {
  const bytes = Buffer.isBuffer(book) ? book : xlsxOf(book);
  const table = await openTableFile({ name: 'f.xlsx', bytes: pieces(bytes) }, { sheet });
  if (table.format !== 'xlsx') throw new Error('not a sheet');
  const problems: TableFinding[] = [];
  const warnings: TableFinding[] = [];
  const rows: string[][] = [];
  const lines: number[] = [];
  for await (const { cells, line } of table.records({
    problem: (finding) => void problems.push(finding),
    warning: (finding) => void warnings.push(finding),
  })) {
    rows.push(cells);
    lines.push(line);
  }
  const places = (findings: TableFinding[]) => findings.map(({ line, column }) => [line, column]);
  return { rows, lines, sheet: table.sheet, problems: places(problems), warnings: places(warnings) };
}
