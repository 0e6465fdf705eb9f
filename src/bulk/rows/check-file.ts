import { createHash } from 'node:crypto';
import { findProblems, NO_ROLES } from '../../envelopes/completeness.ts';
import type { EnvelopeInput } from '../../envelopes/create.ts';
import { digest } from '../../log/keys.ts';
import { type TableFinding, UnreadableRow } from '../../tables/record.ts';
import type { FileSource, ReadOptions } from '../../tables/table-file.ts';
import type { SourceFacts } from '../entries.ts';
import { contentHash } from '../lookup/row-key.ts';
import type { SheetColumn } from './columns.ts';
import { Findings } from './findings.ts';
import { NAME_PARTS } from './headers.ts';
import { openRows } from './open-rows.ts';
import type { RawRow } from './raw-row.ts';
import { type BulkRow, checkRow, type RowDefaults } from './row.ts';
import { suspiciousCells } from './suspicious-cells.ts';
import { noteTemplate, type TemplateUse } from './template-use.ts';

/** The content of a file and its problems. */
export interface FileReport {
  name: string;
  /** How the file is written. */
  source: SourceFacts;
  /** The columns of its header, in order. Empty for JSON Lines. */
  columns: readonly SheetColumn[];
  rows: number;
  signers: number;
  problems: Findings;
  warnings: Findings;
  /** Number of signers whose address is used as their name. */
  unnamed: number;
  templates: Map<string, TemplateUse>;
  /** True if a row leaves a role of its template without a signer. */
  isIncomplete: boolean;
  /** Number of rows with their own request ID. */
  ownRequestIds: number;
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
    problems: new Findings(),
    warnings: new Findings(),
    unnamed: 0,
    templates: new Map(),
    isIncomplete: false,
    ownRequestIds: 0,
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
    take: (row: BulkRow) => Promise<void> | void;
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

/**
 * The lines on which contents first occur. Keeps only a digest of each, for lists with a hundred thousand rows: that two contents
 * have the same 48 bits is one chance in fifty thousand.
 */
class FirstLines {
  readonly #lines = new Map<number, number>();

  /** Returns the line on which this content first occurs. If it is new, stores this line and returns undefined. */
  firstLine(content: string, line: number): number | undefined {
    const key = createHash('sha1').update(content).digest().readUIntBE(0, 6);
    const first = this.#lines.get(key);
    if (first === undefined) this.#lines.set(key, line);
    return first;
  }
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
  /** Values that must not occur twice, and where they first occur. */
  readonly #requestIds = new FirstLines();
  readonly #contents = new FirstLines();

  constructor(name: string, defaults: RowDefaults) {
    this.#defaults = defaults;
    this.report = emptyReport(name);
  }

  check(raw: RawRow): BulkRow {
    const { report } = this;
    const { line, label } = raw;
    const wrong: string[] = [];
    const addProblem = (path: string, text: string) => {
      wrong.push(path);
      report.problems.add({ line, column: path === '' ? '' : label(path), text });
    };
    const { envelope, requestId, unnamed, warnings } = checkRow(raw, this.#defaults, addProblem);
    report.rows++;
    if (report.rows === 1) report.nameExample = nameExampleOf(raw, envelope.signers);
    report.example ??= { line, subject: envelope.subject, message: envelope.message };
    report.signers += envelope.signers.length;
    report.unnamed += unnamed;
    noteTemplate(report.templates, envelope, raw);
    const content = contentHash(envelope);
    // Rows without valid signers often have the same mistake, which would make them equal.
    if (!wrong.some((path) => path.startsWith('signers')))
      this.#findDuplicates({ line, requestId, content }, addProblem);
    for (const { text } of findProblems(envelope.signers, NO_ROLES)) {
      const index = envelope.signers.findIndex(({ email }) => text.includes(email));
      const column = index < 0 ? '' : label(`signers.${index}.email`);
      report.warnings.add({ line, column, text: text.replace(/\.$/, '') });
    }
    for (const { path, text } of [...warnings, ...suspiciousCells(envelope, requestId)])
      report.warnings.add({ line, column: path === '' ? '' : label(path), text });
    const row = {
      row: report.rows,
      line,
      ...(requestId === undefined ? {} : { requestId }),
      content,
      cells: digest(raw.value),
      envelope,
    };
    return row;
  }

  #findDuplicates(
    { line, requestId, content }: { line: number; requestId: string | undefined; content: string },
    addProblem: (path: string, text: string) => void,
  ): void {
    if (requestId !== undefined) {
      this.report.ownRequestIds++;
      const earlier = this.#requestIds.firstLine(requestId, line);
      if (earlier !== undefined)
        addProblem('requestId', `"${requestId}" is already used on line ${earlier}; each row needs its own`);
      // Two different IDs mean that both envelopes are intended, even with the same content.
      return;
    }
    const same = this.#contents.firstLine(content, line);
    if (same !== undefined)
      addProblem(
        '',
        `the row has the same content as line ${same}; delete one, or give each a request_id if you want both`,
      );
  }
}
