/** A row of the file in the form of the API's create body, not yet checked. */
export interface RawRow {
  /** Where it starts in the file. */
  line: number;
  value: unknown;
  /** The user's name for a field of the body: the column in a CSV file. */
  label: (path: string) => string;
}

/** Something wrong in the file, for `file:line column: what`. */
export interface Problem {
  line: number;
  /** The column or field; empty when it is the line as a whole. */
  column: string;
  /** What is wrong, and how to fix it. */
  text: string;
}

/** The rows of the file can't be separated from here on; the rest is not read. */
export class UnreadableRow extends Error {
  override readonly name = 'UnreadableRow';
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.text);
    this.problem = problem;
  }
}
