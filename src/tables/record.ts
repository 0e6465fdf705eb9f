import type { TableFinding } from './finding.ts';

/** A row of a table, including the header. */
export interface TableRecord {
  cells: string[];
  /** Where it begins: the line of a text file, or the row of a sheet. */
  line: number;
}

/** Callbacks for findings in a file. Problems stop a run; warnings don't. */
export interface TableFindings {
  problem(finding: TableFinding): void;
  warning(finding: TableFinding): void;
}

/** A sheet of an .xlsx file. */
export interface SheetFile {
  kind: 'sheet';
  sheet: string;
  records: (findings: TableFindings) => AsyncGenerator<TableRecord, void, undefined>;
}
