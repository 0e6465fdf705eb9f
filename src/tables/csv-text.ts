/** The byte order mark, by which spreadsheet programs recognize UTF-8. */
export const BYTE_ORDER_MARK = '\ufeff';

/** Returns the cells as a record of CSV text. */
export function csvRecord(cells: readonly string[], delimiter = ',', lineEnd = '\r\n'): string {
  return `${cells.map((cell) => csvCell(cell, delimiter)).join(delimiter)}${lineEnd}`;
}

function csvCell(text: string, delimiter: string): string {
  return text.includes(delimiter) || /["\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Returns the delimiter that spreadsheet programs in the user's language expect: a semicolon where a comma separates decimals.
 */
export function localDelimiter(): string {
  return (1.5).toLocaleString().includes(',') ? ';' : ',';
}
