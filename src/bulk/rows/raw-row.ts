/** A row of the file in the form of the API's create body, not yet checked. */
export interface RawRow {
  /** Where it starts in the file. */
  line: number;
  value: unknown;
  /** The user's name for a field of the body: the column in a table. */
  label: (path: string) => string;
  /** The value of a column, by its path; undefined where the file has no such column. */
  cell: (path: readonly string[]) => unknown;
}
