/** A row of a table, including the header. */
export interface TableRecord {
  cells: string[];
  /** What the cells of a sheet contain that isn't text. Undefined for a format that shows something else, such as 5%. */
  kinds?: readonly ('number' | 'day' | undefined)[];
  /** Where it begins: the line of a text file, or the row of a sheet. */
  line: number;
}

/** Callbacks for findings in a file. Problems stop a run; warnings don't. */
export interface TableFindings {
  problem(finding: TableFinding): void;
  warning(finding: TableFinding): void;
}

/** An open CSV file or sheet. */
export interface TableFile {
  format: 'csv' | 'xlsx';
  encoding: string;
  /** Only of CSV. */
  delimiter?: string;
  sheet?: string;
  /** Yields the rows, beginning with the header. @throws UnreadableRow where the following rows can't be separated. */
  records: (findings: TableFindings) => AsyncGenerator<TableRecord, void, undefined>;
}

/** An open file of JSON, which is not parsed yet. */
export interface JsonFile {
  format: 'json';
  encoding: string;
  text: AsyncIterable<string>;
}

/** A problem or warning about a file, shown as `file:line column: text`. */
export interface TableFinding {
  line: number;
  /** The column or field. Empty for a finding about the whole line. */
  column: string;
  /** The problem, and how to fix it. */
  text: string;
}

/** Thrown when the following rows of a file can't be separated. The rest is not read. */
export class UnreadableRow extends Error {
  override readonly name = 'UnreadableRow';
  readonly problem: TableFinding;
  constructor(problem: TableFinding) {
    super(problem.text);
    this.problem = problem;
  }
}
