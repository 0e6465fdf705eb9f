/** What a spreadsheet may hold; anything larger is refused before it fills the memory. */
export const SHEET_LIMITS = {
  /** Of the file, and of all its parts unpacked. */
  bytes: 64 * 1024 * 1024,
  /** The header not counted. */
  rows: 100_000,
  columns: 1_000,
};
