import type { EnvelopeInput } from '../../once/create-body.ts';

/** `#N/A` (in several languages), `#REF!`, `#NAME?`, and `####` for a column that was too narrow. */
const SPREADSHEET_ERROR = /^#(?:N\/A|NV|N\/D|N\/V|[\p{Lu}/0]+[!?]|#{3,})$/u;
const FORMULA = /^=\s*[\p{L}\d@("+-]/u;
const SHORTENED_NUMBER = /^-?\d+(?:[.,]\d+)?E\+\d+$/i;

/** The apostrophe with which spreadsheets mark a text, and not the one of a name such as 't Hooft. */
const TEXT_MARK = /^'(?![nst]\b)/i;

/** Returns texts that a spreadsheet produced unintentionally, by their path in the create body. */
export function suspiciousCells(
  { signers, subject, message, metadata }: EnvelopeInput,
  requestId: string | undefined,
): { path: string; text: string }[] {
  const cells: [string, unknown][] = [
    ...signers.flatMap(({ email, name }, index): [string, unknown][] => [
      [`signers.${index}.email`, email],
      [`signers.${index}.name`, name === email ? '' : name],
    ]),
    ['subject', subject],
    ['message', message],
    ['requestId', requestId],
    ...Object.entries(metadata ?? {}).map(([key, value]): [string, unknown] => [`metadata.${key}`, value]),
  ];
  return cells.flatMap(([path, cell]) => {
    const problem = typeof cell === 'string' ? problemOf(cell.trim()) : undefined;
    return problem === undefined ? [] : [{ path, text: problem }];
  });
}

/** How programs write an empty cell, such as pandas, Python, and SQL. */
const EMPTY_VALUE = /^(?:(?:nan|none|null|nil|undefined|<na>|nat)(?:\s+|$))+$/i;

function problemOf(cell: string): string | undefined {
  if (EMPTY_VALUE.test(cell)) return `"${cell}" looks like an empty value of another program`;
  if (SPREADSHEET_ERROR.test(cell)) return `"${cell}" is a spreadsheet error value`;
  if (FORMULA.test(cell)) return `"${cell.slice(0, 60)}" looks like a formula`;
  if (SHORTENED_NUMBER.test(cell)) return `"${cell}" looks like a number shortened by a spreadsheet`;
  if (TEXT_MARK.test(cell))
    return `"${cell.slice(0, 60)}" starts with an apostrophe; is it part of the text?`;
  return undefined;
}
