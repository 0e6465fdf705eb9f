import { ownValue } from '../../kernel/json.ts';
import { isTypo } from '../../kernel/text/nearest.ts';
import type { TableFinding } from '../../tables/record.ts';

/** A column and where its cells go in the create body: `subject`, `metadata.deal`, `signers.0.email`. An empty path means nowhere. */
export interface SheetColumn {
  name: string;
  path: readonly string[];
}

const PLAIN: Readonly<Record<string, string>> = {
  template_id: 'templateId',
  subject: 'subject',
  message: 'message',
  expires_in_days: 'expiresInDays',
  signing_order: 'signingOrder',
  webhook_url: 'webhookUrl',
  request_id: 'requestId',
};
export const SIGNER_FIELDS: readonly string[] = ['email', 'name', 'role', 'order'];
const NUMBERED = /^signer_?(\d{1,2})_(.+)$/;
/** All valid column names. */
const COLUMN_NAMES: readonly string[] = [
  ...SIGNER_FIELDS,
  ...SIGNER_FIELDS.map((name) => `signer1_${name}`),
  ...Object.keys(PLAIN),
];
/** Common headers in lists of people. Others, such as `title`, mean different things in different lists. */
const ALIASES: Readonly<Record<string, string>> = {
  mail: 'email',
  e_mail: 'email',
  email_address: 'email',
  e_mail_address: 'email',
  mail_address: 'email',
  full_name: 'name',
  display_name: 'name',
};
/** Prefix of the columns that `bulk export --into` writes. A corrected file may still have them. */
export const RESULT_PREFIX = 'esign_';

/**
 * Returns the columns of a header line and its problems. A column that is probably mistyped is a problem, and still used, so that
 * its cells are checked in the same round. Other unknown columns are not used.
 */
export function readHeader(
  cells: readonly string[],
  line: number,
): { columns: SheetColumn[]; problems: TableFinding[] } {
  if (cells.some((cell) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim())))
    return {
      columns: [],
      problems: [{ line, column: '', text: 'the first line looks like data; add a header line: email,name' }],
    };
  const problems: TableFinding[] = [];
  const known = cells.map(columnOf);
  const paths = new Set(known.map((column) => column?.path.join('.')));
  const read = cells.map((cell, index): SheetColumn => {
    const column = known[index];
    if (column !== undefined) return column;
    const name = cell.trim();
    const suggestion = intendedName(name);
    const path = columnOf(suggestion ?? '')?.path ?? [];
    if (suggestion === undefined || paths.has(path.join('.'))) return { name, path: [] };
    problems.push({ line, column: name, text: `unknown column; did you mean ${suggestion}?` });
    return { name, path };
  });
  const columns = withoutRepeated(read, line, problems);
  if (columns.some(({ path }) => path[0] === 'signers' && path[2] === 'email')) return { columns, problems };
  const text = 'the header has no email (or signer1_email) column; the first line names the columns';
  return { columns: [], problems: [...problems, { line, column: '', text }] };
}

/** Returns the columns that have a name, but are not used. */
export function unusedColumns(columns: readonly SheetColumn[]): string[] {
  return columns.flatMap(({ name, path }) => (path.length > 0 || columnOf(name) !== undefined ? [] : [name]));
}

/** Returns the column with that name, or undefined if absent. */
export function columnOf(cell: string): SheetColumn | undefined {
  const name = cell.trim();
  const meta = /^meta(?:data)?\.(.+)$/is.exec(name)?.[1]?.trim();
  if (meta) return { name, path: ['metadata', meta] };
  const word = comparableName(cell);
  if (word === '' || word.startsWith(RESULT_PREFIX)) return { name, path: [] };
  const plain = ownValue(PLAIN, word);
  if (plain !== undefined) return { name, path: [plain] };
  const [, number = '1', part = word] = NUMBERED.exec(word) ?? [];
  const field = ownValue(ALIASES, part) ?? part;
  if (Number(number) === 0 || !SIGNER_FIELDS.includes(field)) return undefined;
  return { name, path: ['signers', String(Number(number) - 1), field] };
}

/** Returns a column name in the form used for comparison. */
export function comparableName(cell: string): string {
  return cell
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

/** Returns the column that a name is probably a typo of, if any. */
function intendedName(name: string): string | undefined {
  const number = /^signer_?(\d+)/i.exec(name)?.[1] ?? '1';
  const known = COLUMN_NAMES.map((one) => one.replace('signer1_', `signer${number}_`));
  return known.find((one) => isTypo(comparableName(name), one));
}

/** Keeps the first of several columns with the same meaning. */
function withoutRepeated(
  columns: readonly SheetColumn[],
  line: number,
  problems: TableFinding[],
): SheetColumn[] {
  const seen = new Map<string, string>();
  return columns.map(({ name, path }) => {
    const earlier = seen.get(path.join('.'));
    if (path.length === 0 || earlier === undefined) seen.set(path.join('.'), name);
    else problems.push({ line, column: name, text: `this is the same column as ${earlier}; keep one` });
    return { name, path: earlier === undefined ? path : [] };
  });
}
