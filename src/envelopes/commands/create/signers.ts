import { streamFile } from '../../../cli/input/files.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { isList, isRecord, tryParseJson } from '../../../kernel/json.ts';
import type { SignerInput } from '../../../once/create-body.ts';
import { openTableFile } from '../../../tables/open-table.ts';
import { type TableFinding, type TableRecord, UnreadableRow } from '../../../tables/table-types.ts';
import { parseSigners } from '../../signer-mailbox.ts';

/** Reads the signers of --signer and --signers-file, in that order. Prints a notice if an address is used as a name. */
export async function readSigners(
  flags: { signer?: string[] | undefined; 'signers-file'?: string | undefined },
  terminal: CommandTerminal,
): Promise<SignerInput[]> {
  const listed = flags['signers-file'] === undefined ? [] : await readSignersFile(flags['signers-file']);
  const parsed = parseSigners([...(flags.signer ?? []), ...listed]);
  for (const { signer, nameIsAddress } of parsed) {
    if (!nameIsAddress) continue;
    terminal.notice(
      `No name for ${signer.email}; the address is shown instead. To set one: 'NAME <${signer.email}>'`,
    );
  }
  return parsed.map(({ signer }) => signer);
}

/** Reads a JSON array of mailboxes or {email,name,role,order}, or a table with those columns. Returns mailboxes. */
async function readSignersFile(path: string): Promise<string[]> {
  const rows = await readRows(path);
  return rows.map((row, index) =>
    typeof row === 'string' ? row : toMailbox(row, `${path}, signer ${index + 1}`),
  );
}

async function readRows(path: string): Promise<unknown[]> {
  const source = { name: path, bytes: streamFile(path, 'signers file') };
  const table = await openTableFile(source, { hasFlags: false });
  if (table.format === 'json') {
    let text = '';
    for await (const piece of table.text) text += piece;
    return readJsonSigners(text, path);
  }
  const problem = (finding: TableFinding) => {
    throw new UnreadableRow(finding);
  };
  return readTable(table.records({ problem, warning: () => undefined }), path);
}

async function readTable(records: AsyncIterable<TableRecord>, path: string): Promise<unknown[]> {
  const rows: Record<string, string>[] = [];
  let header: string[] | undefined;
  try {
    for await (const { cells } of records) {
      const texts = cells.map((cell) => cell.trim());
      if (header === undefined) header = texts;
      else {
        const named = texts.map((text, index) => [header?.[index] ?? '', text] as const);
        rows.push(Object.fromEntries(named.filter(([name, text]) => name !== '' || text !== '')));
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error;
    const { line, text } = error.problem;
    throw new UsageError(`The signers file ${path} can't be read: line ${line}: ${text}.`, {
      cause: error,
      hint: 'The columns are email,name,role,order.',
    });
  }
  return rows;
}

function readJsonSigners(text: string, path: string): unknown[] {
  const value = tryParseJson(text);
  if (isList(value)) return value;
  throw new UsageError(`The signers file ${path} is not a JSON array.`, {
    hint: 'Example: [{"email":"a@b.c","name":"Ada","role":"Tenant"}]',
  });
}

const COLUMNS = ['email', 'name', 'role', 'order'];

function toMailbox(row: unknown, where: string): string {
  if (!isRecord(row) || typeof row.email !== 'string')
    throw new UsageError(`${where} has no email.`, { hint: `The columns are ${COLUMNS.join(', ')}.` });
  const unknown = Object.keys(row).find((key) => !COLUMNS.includes(key));
  if (unknown !== undefined)
    throw new UsageError(`${where}: "${unknown}" is not a signer column.`, {
      hint: `The columns are ${COLUMNS.join(', ')}.`,
    });
  const quote = (value: unknown) => `"${String(value).replace(/["\\]/g, '\\$&')}"`;
  const options = ['role', 'order'].flatMap((key) =>
    row[key] === undefined || row[key] === '' ? [] : [`;${key}=${quote(row[key])}`],
  );
  return `${row.name ? `${quote(row.name)} <${row.email}>` : row.email}${options.join('')}`;
}
