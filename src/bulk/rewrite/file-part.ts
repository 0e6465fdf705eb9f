import type { RawRow } from '../rows/raw-row.ts';
import type { IntoCells } from './result-columns.ts';

/**
 * A part of a source file: a row, or something between rows (byte order mark, header, blank lines). The parts without results,
 * joined in order, are exactly the file.
 */
export interface FilePart {
  /** Undefined if the part is not a row. */
  row?: RawRow | undefined;
  line: number;
  /** Returns the bytes of the part as they are in the file. */
  bytes(): Buffer;
  /** Returns the bytes with the result columns: values for a row, names for the header. */
  bytesWith(results: IntoCells): Buffer;
}
