/** The limits of a spreadsheet. A larger one is refused before it fills the memory. */
export const SHEET_LIMITS = {
  /** The size of the file, and of all its parts unpacked. */
  bytes: 64 * 1024 * 1024,
  /** The characters of all cells together. Cells share texts, so a small file can contain many. */
  characters: 256 * 1024 * 1024,
  /** Not counting the header. */
  rows: 100_000,
  columns: 1_000,
};
