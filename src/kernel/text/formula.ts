/**
 * What a spreadsheet may take for a formula: text that begins with one of these characters, or with spaces before it
 * (https://owasp.org/www-community/attacks/CSV_Injection). The full-width signs count in East Asian editions.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\u200b-\u200d\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])/;

/** Returns a CSV cell that no spreadsheet runs: an apostrophe makes a formula plain text. */
export function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
