/** Something to report about a file, as `file:line column: text`. */
export interface TableFinding {
  line: number;
  /** The column or field; empty for the line as a whole. */
  column: string;
  /** What is wrong, and how to fix it. */
  text: string;
}

/** The rows of the file can't be separated from here on; the rest is not read. */
export class UnreadableRow extends Error {
  override readonly name = 'UnreadableRow';
  readonly problem: TableFinding;
  constructor(problem: TableFinding) {
    super(problem.text);
    this.problem = problem;
  }
}
