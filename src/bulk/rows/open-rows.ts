import type { SourceFormat } from '../../runs/journal-entries.ts';
import { type FileSource, openTableFile, type ReadOptions } from '../../tables/open-table.ts';
import type { TableFindings } from '../../tables/table-types.ts';
import type { SheetColumn } from './columns.ts';
import { readJsonRows } from './json-rows.ts';
import type { RawRow } from './raw-row.ts';
import { readTableRows } from './table-rows.ts';

/** The rows of a file and how it is written. Its columns are known once the first row was read. */
export interface RowFile {
  source: SourceFormat;
  /** Empty for JSON Lines. */
  columns: SheetColumn[];
  rows: AsyncGenerator<RawRow, void, undefined>;
}

/**
 * Opens a file of rows: CSV, JSON Lines, or a sheet.
 * @throws UsageError for any other format, or if it can't be decoded.
 */
export async function openRows(
  file: FileSource,
  options: ReadOptions,
  findings: TableFindings,
): Promise<RowFile> {
  const report = findings.problem;
  const table = await openTableFile(file, options);
  if (table.format === 'json')
    return {
      source: { format: 'jsonl', encoding: table.encoding },
      columns: [],
      rows: readJsonRows(table.text, report),
    };
  const { format, encoding, sheet, delimiter } = table;
  const source: SourceFormat = { format, encoding, sheet };
  const columns: SheetColumn[] = [];
  const onColumns = (read: readonly SheetColumn[]) => {
    columns.push(...read);
    source.columns = read.flatMap(({ path }) => (path.length > 0 ? [path.join('.')] : []));
  };
  return { source, columns, rows: readTableRows(table.records(findings), { delimiter, report, onColumns }) };
}
