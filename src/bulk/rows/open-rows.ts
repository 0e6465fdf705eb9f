import { csvRecords, dialectOf, peek } from '../../tables/csv-records.ts';
import type { TableFinding } from '../../tables/finding.ts';
import { type FileSource, openTableFile, type ReadOptions } from '../../tables/table-file.ts';
import type { SourceFacts } from '../entries.ts';
import type { SheetColumn } from './columns.ts';
import { jsonRows } from './json-rows.ts';
import type { RawRow } from './raw-row.ts';
import { tableRows } from './table-rows.ts';

/** Callbacks that receive the findings about a file. */
export interface FindingSinks {
  problem: (finding: TableFinding) => void;
  warning: (finding: TableFinding) => void;
}

/** The rows of a file and how it is written. Its columns are known once the first row was read. */
export interface RowFile {
  source: SourceFacts;
  rows: AsyncGenerator<RawRow, void, undefined>;
}

/**
 * Opens a file of rows: CSV, JSON Lines, or a sheet.
 * @throws UsageError for any other format, or if it can't be decoded.
 */
export async function openRows(
  file: FileSource,
  options: ReadOptions,
  { problem, warning }: FindingSinks,
): Promise<RowFile> {
  const table = await openTableFile(file, options);
  if (table.kind === 'sheet') {
    const source: SourceFacts = { format: 'xlsx', encoding: 'utf-8', sheet: table.sheet };
    const records = table.records({ problem, warning });
    return { source, rows: rowsOf(records, undefined, source) };
  }
  const { head, all } = await peek(table.text);
  const { encoding } = table;
  // A CSV header never starts with a brace or bracket.
  if (/^\s*[{[]/.test(head)) return { source: { format: 'jsonl', encoding }, rows: jsonRows(all, problem) };
  const dialect = dialectOf(head);
  const source: SourceFacts = { format: 'csv', encoding };
  return { source, rows: rowsOf(csvRecords(all, dialect), dialect.delimiter, source) };

  function rowsOf(
    records: Parameters<typeof tableRows>[0],
    delimiter: string | undefined,
    facts: SourceFacts,
  ): AsyncGenerator<RawRow, void, undefined> {
    const onColumns = (columns: readonly SheetColumn[]) => {
      facts.columns = columns.flatMap(({ path }) => (path.length > 0 ? [path.join('.')] : []));
    };
    return tableRows(records, { delimiter, report: problem, onColumns });
  }
}
