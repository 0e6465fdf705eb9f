import { escapeFormula } from '../kernel/text/formula.ts';
import { safeBlock } from '../kernel/text/safe-text.ts';

/** A cell of a table that is written. */
export interface TableCell {
  text: string;
  /** How a workbook stores it: as a number, a day (`2026-11-30`), or a time in ISO 8601. Default: as text. */
  kind?: 'number' | 'day' | 'time' | undefined;
  /** True for a cell of the user's own file, which is written as it is. */
  isOwn?: boolean;
}

/** Returns the cell as text for CSV, in which nothing can affect a terminal or runs as a formula. */
export function csvText({ text, kind, isOwn }: TableCell): string {
  if (isOwn) return text;
  return kind === 'number' ? text : escapeFormula(safeText(text));
}

/** Returns the text with visible control characters. Line breaks and tabs are kept. */
export function safeText(text: string): string {
  return text.split('\t').map(safeBlock).join('\t');
}
