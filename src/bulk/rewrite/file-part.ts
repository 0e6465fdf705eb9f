import type { RawRow } from '../rows/raw-row.ts';
import type { IntoCells } from './result-columns.ts';

/**
 * A part of a source file: a row, or what is between rows (byte order mark, header, blank lines). All parts without results,
 * one after the other, are the file.
 */
export interface FilePart {
  /** Undefined for what is not a row. */
  row?: RawRow | undefined;
  line: number;
  /** The bytes of the part as they are in the file. */
  bytes(): Buffer;
  /** The same with the result columns: their values for a row, their names for the header. */
  bytesWith(results: IntoCells): Buffer;
}
