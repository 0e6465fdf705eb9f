import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import { csvRows, type RawRow } from './csv.ts';
import { type CheckedRow, checkRow, type Problem } from './row.ts';

export interface BulkFile {
  /** As the user named it. */
  name: string;
  text: string;
}

/** Reads the file, or stdin for `-`. @throws UsageError when it can't be read or is not UTF-8. */
export async function readBulkFile(
  path: string,
  stdin: NodeJS.ReadableStream = process.stdin,
): Promise<BulkFile> {
  const name = path === '-' ? 'stdin' : path;
  const bytes = await (path === '-' ? buffer(stdin) : readFile(path)).catch((error: unknown) => {
    throw new UsageError(`Can't read ${name} (${codeOf(error) ?? 'unknown reason'}).`, { cause: error });
  });
  try {
    return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    throw new UsageError(`${name} is not UTF-8.`, {
      hint: 'Save it as UTF-8 (in Excel: "CSV UTF-8"), or convert it: iconv -f WINDOWS-1252 -t UTF-8.',
    });
  }
}

/** Everything wrong with a file, and what is only odd. */
export interface Findings {
  rows: number;
  signers: number;
  problems: Problem[];
  warnings: Problem[];
  templates: Set<string>;
}

export interface FileOptions {
  template: string | undefined;
  runId: string;
}

/**
 * Checks every row and hands the good ones over in order. The findings are complete when the iteration has ended.
 * @throws UsageError for a file that can't be read as rows at all.
 */
export async function* checkedRows(
  file: BulkFile,
  options: FileOptions,
  findings: Findings,
): AsyncGenerator<
  CheckedRow & { row: number; line: number; requestId: string; own: boolean },
  void,
  undefined
> {
  const ids = new Map<string, number>();
  const contents = new Map<string, number>();
  for await (const raw of rowsOf(file)) {
    findings.rows++;
    for (const [column, message] of raw.problems) report(findings.problems, raw, column, message);
    if (raw.problems.length > 0) continue;
    const checked = checkRow(raw.value, options.template);
    if ('problems' in checked) {
      for (const [path, message] of checked.problems)
        report(findings.problems, raw, path === undefined ? undefined : raw.columnOf(path), message);
      continue;
    }
    const { row } = checked;
    const own = row.requestId !== undefined;
    const requestId = row.requestId ?? `${options.runId}-${findings.rows}`;
    noteDuplicates(raw, row, { ids, contents, requestId, own }, findings);
    findings.signers += row.envelope.signers.length;
    findings.templates.add(row.envelope.templateId);
    yield { ...row, requestId, own, row: findings.rows, line: raw.line };
  }
}

async function* rowsOf(file: BulkFile): AsyncGenerator<RawRow, void, undefined> {
  if (/^\uFEFF?\s*\{/.test(file.text)) yield* jsonRows(file.text);
  else yield* csvRows(file.text, file.name);
}

function* jsonRows(text: string): Generator<RawRow, void, undefined> {
  let line = 0;
  for (const part of text.replace(/^\uFEFF/, '').split('\n')) {
    line++;
    if (part.trim() === '') continue;
    const raw = { line, columnOf: (path: string) => path, problems: [] };
    let value: unknown;
    try {
      value = parseJson(part);
    } catch {
      yield { ...raw, value: undefined, problems: [['', 'is not JSON; each line is one object']] };
      continue;
    }
    yield { ...raw, value };
  }
}

function report(into: Problem[], raw: RawRow, column: string | undefined, message: string): void {
  into.push({ line: raw.line, column: column || undefined, message });
}

/** Domains people mean when they slip. */
const MISSPELT: Readonly<Record<string, string>> = {
  'gmial.com': 'gmail.com',
  'gmai.com': 'gmail.com',
  'gmal.com': 'gmail.com',
  'gnail.com': 'gmail.com',
  'gmail.con': 'gmail.com',
  'hotmial.com': 'hotmail.com',
  'hotmai.com': 'hotmail.com',
  'outlok.com': 'outlook.com',
  'outloo.com': 'outlook.com',
  'yaho.com': 'yahoo.com',
  'yahooo.com': 'yahoo.com',
  'iclod.com': 'icloud.com',
};

function noteDuplicates(
  raw: RawRow,
  row: CheckedRow,
  seen: { ids: Map<string, number>; contents: Map<string, number>; requestId: string; own: boolean },
  findings: Findings,
): void {
  const sameId = seen.own ? seen.ids.get(seen.requestId) : undefined;
  if (sameId !== undefined)
    report(
      findings.problems,
      raw,
      raw.columnOf('requestId'),
      `is the same as in line ${sameId}; each needs its own`,
    );
  if (seen.own) seen.ids.set(seen.requestId, raw.line);
  const content = JSON.stringify(row.envelope);
  const sameContent = seen.contents.get(content);
  if (sameContent !== undefined && !seen.own)
    report(
      findings.problems,
      raw,
      undefined,
      `is the same as line ${sameContent}; if both are meant, give each a ${raw.columnOf('requestId')}`,
    );
  else if (sameContent === undefined) seen.contents.set(content, raw.line);
  for (const [index, { email }] of row.envelope.signers.entries()) {
    const meant = MISSPELT[email.split('@')[1]?.toLowerCase() ?? ''];
    if (meant !== undefined)
      report(findings.warnings, raw, raw.columnOf(`signers.${index}.email`), `${email}: is ${meant} meant?`);
  }
}
