import { isRecord, valueAt } from '../../kernel/json.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import { parseColumnName, type SheetColumn } from './columns.ts';
import { comparableName, SIGNER_FIELDS } from './headers.ts';
import type { RawRow } from './raw-row.ts';

/** A doubled brace, a placeholder, or a brace that is never closed. */
const BRACES = /\{\{|\}\}|\{([^{}]*)\}|\{/g;
/** Fields that can't be used as placeholders, because the placeholders are filled into them. */
const EXCLUDED = ['subject', 'message'];

/** Replaces each `{column}` in a text with the row's value. `{{` and `}}` stand for literal braces. */
export function fillPlaceholders(text: string, row: RawRow, addProblem: (text: string) => void): string {
  return text.replaceAll(BRACES, (match: string, name: string | undefined) => {
    if (match === '{{') return '{';
    if (match === '}}') return '}';
    if (name !== undefined) return textFor(name.trim(), row, addProblem);
    addProblem('a { is not closed; close it, or use {{ for a literal brace');
    return match;
  });
}

/** Placeholders as other products write them: {{name}}, {{{name}}}, ${name}, <<name>>, «name», [name], %name%, *|name|*. */
const OTHER_FORMS =
  /(?<!\{)\{\{\{([^{}]+)\}\}\}(?!\})|\{\{([^{}]+)\}\}(?!\})|\$\{([^{}]+)\}|<<([^<>]+)>>|«([^«»]+)»|\[([^[\]]+)\]|%([^%]+)%|\*\|([^|*]+)\|\*/g;

/** Returns the texts that look like a placeholder of another product for one of the row's columns, each with its column. */
export function foreignPlaceholders(text: string, row: RawRow): { written: string; name: string }[] {
  return [...text.matchAll(OTHER_FORMS)].flatMap(([written, ...names]) => {
    const name = names.find(Boolean)?.trim() ?? '';
    return cellNamed(name, row) === undefined ? [] : [{ written, name }];
  });
}

function textFor(name: string, row: RawRow, addProblem: (text: string) => void): string {
  if (isAmbiguous(name, row)) {
    addProblem(
      `{${name}} is ambiguous, because the row has several signers; use {signer1_${comparableName(name)}}`,
    );
    return '';
  }
  const column = columnInRow(name, row);
  if (column !== undefined) column.isInText = true;
  const value = cellNamed(name, row);
  if (value === undefined) addProblem(unknownName(name, row));
  else if (typeof value === 'object' && value !== null) addProblem(`{${name}} is not text`);
  else if (value === null || String(value).trim() === '')
    addProblem(`{${name}} is empty in this row; fill it in, or change the text`);
  else return String(value);
  return '';
}

/** Returns true for a signer field such as `{name}` in a row with several signers, unless a column has exactly that name. */
function isAmbiguous(name: string, row: RawRow): boolean {
  const signers = valueAt(row.value, 'signers');
  const isOfSigner =
    SIGNER_FIELDS.includes(comparableName(name)) && Array.isArray(signers) && signers.length > 1;
  return (
    isOfSigner && comparableName(row.label(`signers.0.${comparableName(name)}`)) !== comparableName(name)
  );
}

/** Returns the value for a placeholder: a cell by its header as written, by its meaning, or by a similar header. */
function cellNamed(name: string, row: RawRow): unknown {
  const { path = ['metadata', name] } = parseColumnName(name) ?? {};
  if (EXCLUDED.includes(path[0] ?? '')) return undefined;
  const column = columnInRow(name, row);
  const own = column && (row.cells[row.columns.indexOf(column)]?.trim() ?? '');
  if (column?.name === name) return own;
  return row.cell(path) ?? own;
}

/** Returns the column with that header, in any case and with any spaces. */
function columnInRow(name: string, { columns }: RawRow): SheetColumn | undefined {
  const word = comparableName(name);
  if (word === '') return undefined;
  return columns.find((column) => column.name === name) ?? columns.find((column) => column.word === word);
}

function unknownName(name: string, row: RawRow): string {
  const metadata = valueAt(row.value, 'metadata');
  const columns = row.columns.map((column) => column.name);
  const names = [...columns, ...SIGNER_FIELDS, ...(isRecord(metadata) ? Object.keys(metadata) : [])].filter(
    (one) => cellNamed(one, row) !== undefined,
  );
  const suggestion = nearest(name, names);
  return `the file has no column for {${name}}; ${suggestion === undefined ? 'use {{ }} for literal braces' : `did you mean {${suggestion}}?`}`;
}
