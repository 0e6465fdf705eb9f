/**
 * Text that a spreadsheet may treat as a formula because it begins with one of these characters, possibly after spaces
 * (https://owasp.org/www-community/attacks/CSV_Injection). Full-width characters count in East Asian editions.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\u200b-\u200d\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])/;

/** Returns a CSV cell that a spreadsheet doesn't execute. A leading apostrophe makes a formula plain text. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
