import { findProblems, NO_ROLES } from '../../envelopes/envelope-problems.ts';
import { digest } from '../../kernel/digest.ts';
import type { EnvelopeInput } from '../../once/create-body.ts';
import { contentOf, requestIdByContent } from '../../once/request-identity.ts';
import type { SourceFormat } from '../../runs/journal-entries.ts';
import type { RunRow } from '../../runs/run-row.ts';
import type { FileSource, ReadOptions } from '../../tables/open-table.ts';
import { type TableFinding, UnreadableRow } from '../../tables/table-types.ts';
import { checkRow, type RowDefaults } from './check-row.ts';
import type { SheetColumn } from './columns.ts';
import { LineFindings } from './findings.ts';
import { NAME_PARTS } from './headers.ts';
import { openRows } from './open-rows.ts';
import type { RawRow } from './raw-row.ts';
import { suspiciousCells } from './suspicious-cells.ts';
import { countTemplateUse, type TemplateUse } from './template-use.ts';

/** The content of a file and its problems. */
export interface FileReport {
  name: string;
  /** How the file is written. */
  source: SourceFormat;
  /** The columns of its header, in order. Empty for JSON Lines. */
  columns: readonly SheetColumn[];
  rows: number;
  signers: number;
  problems: LineFindings;
  warnings: LineFindings;
  /** Number of signers whose address is used as their name. */
  unnamed: number;
  templates: Map<string, TemplateUse>;
  /** True if a row leaves a role of its template without a signer. */
  isIncomplete: boolean;
  /** Number of rows that have the same content as an earlier row, and are not sent. */
  repeated: number;
  /** How a name is put together from several columns: `Vorname + Nachname, such as "Anna Müller"`. */
  nameExample?: string | undefined;
  /** The subject and message of the first row, with placeholders filled in. */
  example: { line: number; subject: string | undefined; message: string | undefined } | undefined;
}

/** Returns the report of a file of which nothing was read yet. */
export function emptyReport(name: string): FileReport {
  return {
    name,
    source: { format: 'csv', encoding: 'utf-8' },
    columns: [],
    rows: 0,
    signers: 0,
    problems: new LineFindings(),
    warnings: new LineFindings(),
    unnamed: 0,
    templates: new Map(),
    isIncomplete: false,
    repeated: 0,
    example: undefined,
  };
}

/**
 * Reads and checks a whole file, and passes each valid row to `take`, in order. Memory is constant except for a few bytes per
 * row, which are needed to find duplicates.
 */
export async function checkFile(
  file: FileSource,
  options: RowDefaults & {
    read?: ReadOptions | undefined;
    take: (row: RunRow) => Promise<void> | void;
    /** Accepts a header without rows. */
    mayBeEmpty?: boolean;
  },
): Promise<FileReport> {
  const { mayBeEmpty = false } = options;
  const checking = new FileCheck(file.name, options);
  const report = (problem: TableFinding) => checking.report.problems.add(problem);
  const { source, columns, rows } = await openRows(file, options.read ?? {}, {
    problem: report,
    warning: (finding) => checking.report.warnings.add(finding),
  });
  checking.report.source = source;
  checking.report.columns = columns;
  try {
    for await (const raw of rows) {
      const before = checking.report.problems.count;
      const row = checking.check(raw);
      if (checking.report.problems.count === before) await options.take(row);
    }
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error;
    report(error.problem);
  }
  const isEmpty = checking.report.rows === 0 && checking.report.problems.count === 0;
  if (isEmpty && !(mayBeEmpty && source.columns !== undefined))
    report({
      line: 1,
      column: '',
      text: 'the file has no rows; the first line names the columns, and each line after it is an envelope',
    });
  return checking.report;
}

/** Returns a warning for each person who is a signer twice, by the path of the second address. */
function duplicateSigners({ signers }: EnvelopeInput): { path: string; text: string }[] {
  return findProblems(signers, NO_ROLES).map(({ text }) => {
    const index = signers.findIndex(({ email }) => text.includes(email));
    return { path: index < 0 ? '' : `signers.${index}.email`, text: text.replace(/\.$/, '') };
  });
}

/** Returns how the names of the signers are put together, if they are. */
function nameExampleOf({ columns }: RawRow, signers: EnvelopeInput['signers']): string | undefined {
  const parts = columns.filter(({ path }) => path[0] === 'signers' && NAME_PARTS.includes(path[2] ?? ''));
  const example = signers.find(({ name, email }) => name !== email)?.name;
  if (parts.length < 2 || example === undefined) return undefined;
  const number = parts[0]?.path[1];
  const names = parts.filter(({ path }) => path[1] === number);
  const inOrder = NAME_PARTS.flatMap((part) => names.filter(({ path }) => path[2] === part));
  return `${inOrder.map(({ name }) => name).join(' + ')}, such as "${example}"`;
}

class FileCheck {
  readonly report: FileReport;
  readonly #defaults: RowDefaults;
  /** The request IDs, and where they first occur. */
  readonly #linesById = new Map<string, number>();

  constructor(name: string, defaults: RowDefaults) {
    this.#defaults = defaults;
    this.report = emptyReport(name);
  }

  check(raw: RawRow): RunRow {
    const { report } = this;
    const { line, label } = raw;
    const wrong: string[] = [];
    const addProblem = (path: string, text: string) => {
      wrong.push(path);
      report.problems.add({ line, column: path === '' ? '' : label(path), text });
    };
    const { envelope, subjectSource, requestId, unnamed, warnings } = checkRow(
      raw,
      this.#defaults,
      addProblem,
    );
    report.rows++;
    if (report.rows === 1) report.nameExample = nameExampleOf(raw, envelope.signers);
    report.example ??= { line, subject: envelope.subject, message: envelope.message };
    report.signers += envelope.signers.length;
    report.unnamed += unnamed;
    countTemplateUse(report.templates, envelope, raw);
    const content = contentOf({ ...envelope, subject: subjectSource });
    const identity = requestId === undefined ? 'content' : 'given';
    const named = requestId ?? requestIdByContent(content, envelope.signers);
    // Rows without valid signers often have the same mistake, which would make them equal.
    const sameLine = wrong.some((path) => path.startsWith('signers'))
      ? undefined
      : this.#firstLineOf(named, line);
    if (sameLine !== undefined && identity === 'given')
      addProblem('requestId', `"${named}" is already used on line ${sameLine}; each row needs its own`);
    else if (sameLine !== undefined) report.repeated++;
    this.#warn(raw, [...warnings, ...duplicateSigners(envelope), ...suspiciousCells(envelope, requestId)]);
    return {
      row: report.rows,
      line,
      requestId: named,
      identity,
      content,
      cells: digest(raw.value),
      ...(sameLine === undefined ? {} : { sameAs: sameLine }),
      // Its metadata carries the content as it is before names are filled in.
      envelope: { ...envelope, content },
    };
  }

  #warn({ line, label }: RawRow, warnings: readonly { path: string; text: string }[]): void {
    for (const { path, text } of warnings)
      this.report.warnings.add({ line, column: path === '' ? '' : label(path), text });
  }

  /** Returns the line on which a request ID first occurs. If it is new, stores this line and returns undefined. */
  #firstLineOf(requestId: string, line: number): number | undefined {
    const first = this.#linesById.get(requestId);
    if (first === undefined) this.#linesById.set(requestId, line);
    return first;
  }
}
