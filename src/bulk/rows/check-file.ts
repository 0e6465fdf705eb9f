import { findProblems, NO_ROLES } from '../../envelopes/completeness.ts';
import type { EnvelopeInput } from '../../envelopes/create.ts';
import { digest } from '../../log/keys.ts';
import { contentOf, requestIdByContent } from '../../once/identity.ts';
import { type TableFinding, UnreadableRow } from '../../tables/record.ts';
import type { FileSource, ReadOptions } from '../../tables/table-file.ts';
import type { SourceFacts } from '../entries.ts';
import type { SheetColumn } from './columns.ts';
import { openRows } from './open-rows.ts';
import type { RawRow } from './raw-row.ts';
import { type BulkRow, checkRow, type RowDefaults } from './row.ts';
import { suspiciousCells } from './suspicious-cells.ts';
import { noteTemplate, type TemplateUse } from './template-use.ts';

/** The maximum number of problems that are shown for a file. */
const MAX_PROBLEMS = 50;

/** Findings about lines: the first ones, and the total number. */
export class Findings {
  readonly first: TableFinding[] = [];
  count = 0;
  /** How often the first different problems occur. */
  readonly #repeated = new Map<string, number>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(problem: TableFinding): void {
    if (this.count++ < this.#limit) this.first.push(problem);
    const key = keyOf(problem);
    const same = this.#repeated.get(key) ?? 0;
    if (same > 0 || this.#repeated.size < this.#limit) this.#repeated.set(key, same + 1);
  }

  /** Keeps only the first of the problems that every one of these rows has. */
  mergeRepeated(rows: number): void {
    for (const [key, times] of this.#repeated) {
      if (times < rows || rows < 2) continue;
      const index = this.first.findIndex((one) => keyOf(one) === key);
      const merged = this.first[index];
      if (merged === undefined) continue;
      const kept = this.first.filter((one) => keyOf(one) !== key);
      this.first.splice(0, this.first.length, ...kept);
      this.first.splice(Math.min(index, kept.length), 0, { ...merged, text: `${merged.text} (every row)` });
      this.count -= times - 1;
    }
  }
}

function keyOf({ column, text }: TableFinding): string {
  return `${column}\n${text}`;
}

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
  /** Number of rows that have the same content as an earlier row, and are not sent. */
  repeated: number;
  /** The subject and message of the first row, with placeholders filled in. */
  example: { line: number; subject: string | undefined; message: string | undefined } | undefined;
}

const MAX_WARNINGS = 10;

/** Returns the report of a file of which nothing was read yet. */
export function emptyReport(name: string): FileReport {
  return {
    name,
    source: { format: 'csv', encoding: 'utf-8' },
    columns: [],
    rows: 0,
    signers: 0,
    problems: new Findings(MAX_PROBLEMS),
    warnings: new Findings(MAX_WARNINGS),
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
  return checking.finish();
}

/** Returns a warning for each person who is a signer twice, by the path of the second address. */
function duplicateSigners({ signers }: EnvelopeInput): { path: string; text: string }[] {
  return findProblems(signers, NO_ROLES).map(({ text }) => {
    const index = signers.findIndex(({ email }) => text.includes(email));
    return { path: index < 0 ? '' : `signers.${index}.email`, text: text.replace(/\.$/, '') };
  });
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

  check(raw: RawRow): BulkRow {
    const { report } = this;
    const { line, label } = raw;
    const before = report.problems.count;
    const addProblem = (path: string, text: string) =>
      report.problems.add({ line, column: path === '' ? '' : label(path), text });
    const { envelope, subjectSource, requestId, unnamed, warnings } = checkRow(
      raw,
      this.#defaults,
      addProblem,
    );
    report.rows++;
    report.example ??= { line, subject: envelope.subject, message: envelope.message };
    report.signers += envelope.signers.length;
    report.unnamed += unnamed;
    noteTemplate(report.templates, envelope, raw);
    const content = contentOf({ ...envelope, subject: subjectSource });
    const identity = requestId === undefined ? 'content' : 'given';
    const named = requestId ?? requestIdByContent(content, envelope.signers);
    const sameLine = this.#linesById.get(named);
    if (sameLine === undefined) this.#linesById.set(named, line);
    // An invalid row often has the same mistake as its neighbors, so duplicates and warnings are not reported for it.
    if (report.problems.count === before) {
      if (sameLine !== undefined && identity === 'given')
        addProblem('requestId', `"${named}" is already used on line ${sameLine}; each row needs its own`);
      else if (sameLine !== undefined) report.repeated++;
      this.#warn(raw, [...warnings, ...duplicateSigners(envelope), ...suspiciousCells(envelope, requestId)]);
    }
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

  finish(): FileReport {
    this.report.problems.mergeRepeated(this.report.rows);
    this.report.warnings.mergeRepeated(this.report.rows);
    return this.report;
  }
}
