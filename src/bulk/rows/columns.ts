import { entryOf } from '../../kernel/json.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import type { TableFinding } from '../../tables/record.ts';

/**
 * A column and where its cells go in the create body: `subject`, `metadata.deal`, `signers.0.email`. An empty path means nowhere.
 */
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
/** All valid column names. `KEY` stands for any word. */
const COLUMN_NAMES: readonly string[] = [
  ...SIGNER_FIELDS,
  ...SIGNER_FIELDS.map((name) => `signer1_${name}`),
  ...Object.keys(PLAIN),
  'meta.KEY',
];
/** Common column names in lists of people, and the names to suggest instead. */
const SUGGESTIONS: Readonly<Record<string, string>> = {
  mail: 'email',
  e_mail: 'email',
  email_address: 'email',
  e_mail_address: 'email',
  mail_address: 'email',
  address: 'email',
  recipient: 'email',
  full_name: 'name',
  signer: 'name',
  signer_name: 'name',
  recipient_name: 'name',
  display_name: 'name',
  first_name: 'name',
  title: 'subject',
  text: 'message',
  body: 'message',
  template: 'template_id',
  position: 'order',
  expires: 'expires_in_days',
  days: 'expires_in_days',
};
/** Prefix of the columns that `bulk export --into` writes. A corrected file may still have them. */
export const RESULT_PREFIX = 'esign_';

/** Returns the columns of a header line and its problems. Case, spaces, and hyphens in names don't matter. */
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
  const columns = cells.map((cell) => {
    const column = columnOf(cell);
    if (column === undefined) {
      const isFirst = !problems.some(({ text }) => text.includes(ALL_COLUMNS));
      problems.push({ line, column: cell.trim(), text: unknownColumn(cell, isFirst) });
    }
    return column ?? { name: cell.trim(), path: [] };
  });
  if (problems.length === 0) problems.push(...contradictions(columns, line));
  return { columns, problems };
}

/** Returns the column with that name, or undefined if absent. */
export function columnOf(cell: string): SheetColumn | undefined {
  const name = cell.trim();
  const meta = /^meta(?:data)?\.(.+)$/is.exec(name)?.[1]?.trim();
  if (meta) return { name, path: ['metadata', meta] };
  const word = wordOf(cell);
  if (word === '' || word.startsWith(RESULT_PREFIX)) return { name, path: [] };
  const plain = entryOf(PLAIN, word);
  if (plain !== undefined) return { name, path: [plain] };
  if (SIGNER_FIELDS.includes(word)) return { name, path: ['signers', '0', word] };
  const [, number = '0', part = ''] = NUMBERED.exec(word) ?? [];
  if (Number(number) > 0 && SIGNER_FIELDS.includes(part))
    return { name, path: ['signers', String(Number(number) - 1), part] };
  return undefined;
}

/** Returns a column name in the form used for comparison. */
export function wordOf(cell: string): string {
  return cell
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

const ALL_COLUMNS =
  'the columns are email, name, role, order (or signer1_email, signer1_name … signer20_…), ' +
  `${Object.keys(PLAIN).join(', ')}, and meta.KEY for other data`;

function unknownColumn(cell: string, listsAll: boolean): string {
  const number = /^signer_?(\d+)/i.exec(cell.trim())?.[1] ?? '1';
  const known = COLUMN_NAMES.map((one) => one.replace('signer1_', `signer${number}_`));
  const suggestion = entryOf(SUGGESTIONS, wordOf(cell)) ?? nearest(cell.trim(), known);
  if (suggestion !== undefined) return `unknown column; did you mean ${suggestion}?`;
  return listsAll ? `unknown column; ${ALL_COLUMNS}` : 'unknown column';
}

function contradictions(columns: readonly SheetColumn[], line: number): TableFinding[] {
  const problems: TableFinding[] = [];
  const seen = new Map<string, string>();
  for (const { name, path } of columns) {
    if (path.length === 0) continue;
    const earlier = seen.get(path.join('.'));
    if (earlier !== undefined)
      problems.push({ line, column: name, text: `this is the same column as ${earlier}; keep one` });
    seen.set(path.join('.'), name);
  }
  const hasEmail = columns.some(({ path }) => path[0] === 'signers' && path[2] === 'email');
  if (!hasEmail)
    problems.push({
      line,
      column: '',
      text: 'the header has no email (or signer1_email) column; the first line names the columns',
    });
  return problems;
}
