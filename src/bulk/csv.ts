import { parse } from 'csv-parse';
import { UsageError } from '../kernel/errors.ts';
import { isList, isRecord } from '../kernel/json.ts';
import { unknownKey } from './row.ts';

/** A line of the file as a create body, not checked yet; or why its columns can't be read at all. */
export interface RawRow {
  line: number;
  value: unknown;
  /** Name of the CSV column that stands behind a path of the value. */
  columnOf: (path: string) => string;
  /** Problems of cells that could not become values: column and sentence. */
  problems: [string, string][];
}

const DELIMITERS = [',', ';', '\t', '|'];
const PLAIN: Readonly<Record<string, string>> = {
  template_id: 'templateId',
  subject: 'subject',
  message: 'message',
  expires_in_days: 'expiresInDays',
  signing_order: 'signingOrder',
  webhook_url: 'webhookUrl',
  request_id: 'requestId',
};
const SIGNER = /^(?:signer(\d{1,2})_)?(email|name|role|order)$/;
const KNOWN = ['email', 'name', 'role', 'order', 'signer1_email', ...Object.keys(PLAIN)];
const NUMBERS = new Set(['expiresInDays', 'order']);

/**
 * Rows of a CSV file: any common delimiter, quoted line breaks, a byte order mark.
 * @throws UsageError for a header with unknown columns, or a file that is no CSV; it names the line.
 */
export async function* csvRows(text: string, where: string): AsyncGenerator<RawRow, void, undefined> {
  const parser = parse(text, {
    bom: true,
    delimiter: delimiterOf(text),
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  let header: string[] | undefined;
  try {
    for await (const item of parser) {
      const { record, info } = readItem(item);
      if (header === undefined) header = checkHeader(record, where);
      else yield toRow(header, record, info - breaksIn(record));
    }
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error;
    throw new UsageError(`${where} is not CSV: ${error.message}.`, {
      hint: 'A cell with a quote, a delimiter or a line break in it stands in double quotes; a quote in it is doubled.',
    });
  }
  if (header === undefined)
    throw new UsageError(`${where} is empty.`, { hint: 'See `esign bulk template FILE`.' });
}

function readItem(item: unknown): { record: string[]; info: number } {
  const record = isRecord(item) && isList(item.record) ? item.record.map(String) : [];
  const info = isRecord(item) && isRecord(item.info) ? Number(item.info.lines) : 0;
  return { record, info };
}

function breaksIn(record: readonly string[]): number {
  return record.reduce((sum, cell) => sum + cell.split('\n').length - 1, 0);
}

/** The delimiter that the first line has most of, outside quotes. */
function delimiterOf(text: string): string {
  const [first = ''] = text.replaceAll(/"[^"]*"/g, '').split(/\r?\n/, 1);
  const counts = DELIMITERS.map((delimiter) => first.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

function checkHeader(record: readonly string[], where: string): string[] {
  const names = record.map((name) => name.trim().replace(/^\uFEFF/, ''));
  const columns = names.map((name) => (name.startsWith('meta.') ? name : name.toLowerCase()));
  for (const [index, column] of columns.entries()) {
    const isKnown = column in PLAIN || SIGNER.test(column) || /^meta\../.test(column);
    if (!isKnown)
      throw new UsageError(`${where}:1 column "${names[index] ?? ''}" ${unknownKey(column, KNOWN)}.`);
    if (columns.indexOf(column) !== index)
      throw new UsageError(`${where}:1 column "${column}" is there twice.`);
  }
  return columns;
}

function toRow(header: readonly string[], record: readonly string[], line: number): RawRow {
  const value: Record<string, unknown> = {};
  const metadata: Record<string, unknown> = {};
  const signers = new Map<number, Record<string, unknown>>();
  for (const [index, column] of header.entries()) {
    const cell = (record[index] ?? '').trim();
    const [, number = '1', field] = SIGNER.exec(column) ?? [];
    if (cell === '') continue;
    if (field !== undefined)
      signers.set(Number(number), { ...signers.get(Number(number)), [field]: convert(field, cell) });
    else if (column.startsWith('meta.')) metadata[column.slice('meta.'.length)] = cell;
    else value[PLAIN[column] ?? column] = convert(PLAIN[column] ?? column, cell);
  }
  const numbers = [...signers.keys()].sort((a, b) => a - b);
  value.signers = numbers.map((number) => signers.get(number));
  if (Object.keys(metadata).length > 0) value.metadata = metadata;
  const tooMany = `has ${record.length} cells, the header has ${header.length}`;
  return {
    line,
    value,
    columnOf: placesOf(header, numbers),
    problems: record.length > header.length ? [['', tooMany]] : [],
  };
}

/** Which column stands behind a path of the value. */
function placesOf(header: readonly string[], numbers: readonly number[]): (path: string) => string {
  const prefixed = header.some((column) => /^signer\d/.test(column));
  return (path) => {
    const [, index, field] = /^signers\.(\d+)\.(\w+)$/.exec(path) ?? [];
    if (field !== undefined) return prefixed ? `signer${numbers[Number(index)] ?? 1}_${field}` : field;
    if (path === 'signers') return prefixed ? 'signer1_email' : 'email';
    return Object.entries(PLAIN).find(([, name]) => name === path)?.[0] ?? path;
  };
}

function convert(field: string, cell: string): unknown {
  if (field === 'signingOrder') return cell.toUpperCase();
  return NUMBERS.has(field) && /^-?\d{1,9}$/.test(cell) ? Number(cell) : cell;
}
