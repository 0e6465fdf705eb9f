import { isTypo } from '../../kernel/text/nearest.ts';
import type { TableFinding } from '../../tables/table-types.ts';
import { bodyPathOfHeader, compactName, comparableName, knownHeaders, NAME_PARTS } from './headers.ts';

/** A column and where its cells go in the create body: `subject`, `metadata.deal`, `signers.0.email`. An empty path means nowhere. */
export interface SheetColumn {
  name: string;
  /** The name in the form used for comparison. */
  word: string;
  path: readonly string[];
  /** True once a placeholder has used it. */
  isInText?: boolean;
}

/** Prefix of the columns that `bulk export --into` writes. A corrected file may still have them. */
export const RESULT_PREFIX = 'esign_';
/** The number of headers that are shown. */
const MAX_HEADERS = 20;

/** The columns of a header line and its problems. Without columns, the rows can't be read. */
export interface Header {
  columns: SheetColumn[];
  problems: TableFinding[];
  /** True if no column is one of email addresses. */
  lacksAddress?: boolean;
}

/**
 * Returns the columns of a header line and its problems. A column that is probably mistyped is a problem, and still used, so that
 * its cells are checked in the same round. Other unknown columns are not used.
 */
export function readHeader(cells: readonly string[], line: number): Header {
  if (cells.some(isAddress))
    return {
      columns: [],
      problems: [{ line, column: '', text: 'the first line looks like data; add a header line: email,name' }],
    };
  const problems: TableFinding[] = [];
  const known = cells.map(parseColumnName);
  const paths = new Set(known.map((column) => column?.path.join('.')));
  const read = cells.map((cell, index): SheetColumn => {
    const column = known[index];
    if (column !== undefined) return column;
    const suggestion = intendedName(cell.trim());
    const path = bodyPathOfHeader(suggestion ?? '') ?? [];
    const unknown = unknownColumn(cell);
    if (suggestion === undefined || paths.has(path.join('.'))) return unknown;
    problems.push({ line, column: unknown.name, text: `unknown column; did you mean ${suggestion}?` });
    return { ...unknown, path };
  });
  const columns = withNames(withoutRepeated(read, line, problems));
  const hasAddress = columns.some(({ path }) => path[0] === 'signers' && path[2] === 'email');
  return { columns: hasAddress ? columns : [], problems, lacksAddress: !hasAddress };
}

/** Returns the problem of a header without a column of addresses. `row` is the first row below it. */
export function missingAddress(
  header: readonly string[],
  line: number,
  row: readonly string[],
): TableFinding {
  const names = header.map((cell) => cell.trim());
  const named = names.filter((name) => name !== '');
  const left = named.length - MAX_HEADERS;
  const all = [...named.slice(0, MAX_HEADERS), ...(left > 0 ? [`${left} more`] : [])].join(', ');
  const found = names[row.findIndex(isAddress)];
  const fix =
    found === undefined || found === ''
      ? 'name one email (or signer1_email)'
      : `rename ${found}, which contains email addresses, to email`;
  return { line, column: '', text: `no column is named email; ${fix}. The columns are ${all}` };
}

function isAddress(cell: string): boolean {
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim());
}

/** Returns the columns that have a name, but are not used. */
export function unusedColumns(columns: readonly SheetColumn[]): string[] {
  return columns.flatMap(({ name, path, isInText }) =>
    path.length > 0 || isInText || parseColumnName(name) !== undefined ? [] : [name],
  );
}

/** Returns the column with that name, or undefined if it is unknown. */
export function parseColumnName(cell: string): SheetColumn | undefined {
  const unknown = unknownColumn(cell);
  const { name, word } = unknown;
  const meta = /^meta(?:data)?\.(.+)$/is.exec(name)?.[1]?.trim();
  if (meta) return { ...unknown, path: ['metadata', meta] };
  if (word === '' || isIgnored(word)) return unknown;
  const path = bodyPathOfHeader(name);
  return path === undefined ? undefined : { ...unknown, path };
}

function unknownColumn(cell: string): SheetColumn {
  return { name: cell.trim(), word: comparableName(cell), path: [] };
}

function isIgnored(word: string): boolean {
  return word.startsWith(RESULT_PREFIX);
}

/**
 * Returns the columns of the header of a file that was sent before. Columns whose path is not in `sent` count as unknown, since they
 * may be added or changed later; without `sent`, all columns count.
 */
export function columnsSentBefore(cells: readonly string[], sent?: readonly string[]): SheetColumn[] {
  const own = cells.map((cell) => parseColumnName(cell) ?? unknownColumn(cell));
  const wasSent = ({ path }: SheetColumn) => sent === undefined || sent.includes(path.join('.'));
  // A first name that was added later doesn't make `Name` a last name.
  return withNames(own).map((column, index) => {
    const before = own[index] ?? column;
    return [column, before].find(wasSent) ?? { ...before, path: [] };
  });
}

/** Returns the column that a name is probably a typo of, if any. */
function intendedName(name: string): string | undefined {
  const word = compactName(name);
  return knownHeaders(name).find((one) => isTypo(word, compactName(one)));
}

/**
 * Resolves columns for the parts of a name. Next to a first name only, `Name` (and `Nom`) is the last name, and `Nombre` next to a
 * last name is the first name. Next to both, it is the whole name, and the parts are not needed.
 */
function withNames(columns: readonly SheetColumn[]): SheetColumn[] {
  const has = (number: string, part: string) =>
    columns.some(({ path }) => path.join('.') === `signers.${number}.${part}`);
  return columns.map((column) => {
    const [top, number = '', field = ''] = column.path;
    if (top !== 'signers') return column;
    const [first, last] = [has(number, 'firstName'), has(number, 'lastName')];
    if (field === 'name' && first !== last)
      return { ...column, path: ['signers', number, first ? 'lastName' : 'firstName'] };
    const isWhole = first && last && has(number, 'name');
    return isWhole && NAME_PARTS.includes(field) ? { ...column, path: [] } : column;
  });
}

/** Keeps the first of several columns with the same meaning. */
function withoutRepeated(
  columns: readonly SheetColumn[],
  line: number,
  problems: TableFinding[],
): SheetColumn[] {
  const seen = new Map<string, string>();
  return columns.map((column) => {
    const { name, path } = column;
    const earlier = seen.get(path.join('.'));
    if (path.length === 0 || earlier === undefined) seen.set(path.join('.'), name);
    else problems.push({ line, column: name, text: `this is the same column as ${earlier}; keep one` });
    return { ...column, path: earlier === undefined ? path : [] };
  });
}
