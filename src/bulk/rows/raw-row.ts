import type { SheetColumn } from './columns.ts';

/** A row of the file in the form of the API's create body, not yet checked. */
export interface RawRow {
  /** The line on which the row starts. */
  line: number;
  value: unknown;
  /** Returns the user's name for a field of the body: the column name in a table. */
  label: (path: string) => string;
  /** Returns the value of a column by its path, or undefined if the file has no such column. */
  cell: (path: readonly string[]) => unknown;
  /** The columns of a table, with the row's cells. Empty for JSON Lines. */
  columns: readonly SheetColumn[];
  cells: readonly string[];
}
