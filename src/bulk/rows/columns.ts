import { entryOf } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import type { Problem } from './raw-row.ts';

/** Where the cells of a column go in the create body: `subject`, `metadata.deal`, `signers.0.email`. */
export interface Column {
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
const OF_A_SIGNER = ['email', 'name', 'role', 'order'];
const NUMBERED = /^signer_?(\d{1,2})_(.+)$/;
/** Every name a column may have; `N` stands for a number, `KEY` for any word. */
const COLUMN_NAMES: readonly string[] = [
  ...OF_A_SIGNER,
  ...OF_A_SIGNER.map((name) => `signer1_${name}`),
  ...Object.keys(PLAIN),
  'meta.KEY',
];

/** The columns of a header line, and what is wrong with them. Names count in any case, with spaces or hyphens. */
export function readHeader(
  cells: readonly string[],
  line: number,
): { columns: Column[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const columns = cells.map((cell) => {
    const column = columnOf(cell);
    if (column === undefined) problems.push({ line, column: cell.trim(), text: unknownColumn(cell) });
    return column ?? { name: cell.trim(), path: [] };
  });
  if (problems.length === 0) problems.push(...contradictions(columns, line));
  return { columns, problems };
}

function columnOf(cell: string): Column | undefined {
  const name = cell.trim();
  const meta = /^meta(?:data)?\.(.+)$/is.exec(name)?.[1]?.trim();
  if (meta) return { name, path: ['metadata', meta] };
  const word = name.toLowerCase().replaceAll(/[\s-]+/g, '_');
  const plain = entryOf(PLAIN, word);
  if (plain !== undefined) return { name, path: [plain] };
  if (OF_A_SIGNER.includes(word)) return { name, path: ['signers', '0', word] };
  const [, number = '0', part = ''] = NUMBERED.exec(word) ?? [];
  if (Number(number) > 0 && OF_A_SIGNER.includes(part))
    return { name, path: ['signers', String(Number(number) - 1), part] };
  return undefined;
}

function unknownColumn(cell: string): string {
  const name = cell.trim();
  if (name === '') return 'the column has no name; name it, or delete it';
  const number = /^signer_?(\d+)/i.exec(name)?.[1] ?? '1';
  const known = COLUMN_NAMES.map((one) => one.replace('signer1_', `signer${number}_`));
  const meant = nearest(name, known);
  const all = 'the columns are listed by `esign bulk create --help`; further data goes into meta.KEY columns';
  return `there is no such column; ${meant === undefined ? all : `did you mean ${meant}?`}`;
}

function contradictions(columns: readonly Column[], line: number): Problem[] {
  const problems: Problem[] = [];
  const seen = new Map<string, string>();
  for (const { name, path } of columns) {
    const earlier = seen.get(path.join('.'));
    if (earlier !== undefined)
      problems.push({
        line,
        column: name,
        text: `the column stands there twice, as ${earlier}, too; keep one`,
      });
    seen.set(path.join('.'), name);
  }
  const hasEmail = columns.some(({ path }) => path[0] === 'signers' && path[2] === 'email');
  if (!hasEmail)
    problems.push({
      line,
      column: '',
      text: 'the header has no column email (or signer1_email); the first line names the columns',
    });
  return problems;
}
