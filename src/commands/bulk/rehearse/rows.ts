import type { Client } from '../../../api/client.ts';
import { NewRows } from '../../../bulk/lookup/earlier-rows.ts';
import { endedMessage, type KnownRows } from '../../../bulk/lookup/known-rows.ts';
import { checkFile, type FileReport } from '../../../bulk/rows/check-file.ts';
import type { BulkRow } from '../../../bulk/rows/row.ts';
import type { Context } from '../../../cli/context.ts';
import { GuardError } from '../../../kernel/errors.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { checkRows, readTemplates, type Templates } from '../../../rehearsal/check.ts';
import type { UnsentRow } from '../../../rehearsal/rehearse.ts';
import { findKnownRows, otherText, readEarlierRows } from '../known.ts';
import { rowSignersOf, skipCovered } from '../skip-existing.ts';
import { refused, sourceOf } from '../source.ts';
import type { RehearseRequest } from './result.ts';

/** The rows of a list, by what `bulk create` would do with them. */
export interface SortedRows {
  report: FileReport;
  templates: Templates;
  sendable: BulkRow[];
  failed: UnsentRow[];
  /** Rows that are skipped because their envelope exists. */
  existing: number;
  /** Rows with an existing draft, which is sent. */
  drafts: number;
  /** The refusal of the list as a whole by a guard. */
  guard: GuardError | undefined;
}

/**
 * Reads a list and what the account already has for its rows. Reads the templates last.
 * @throws UsageError when no row can be read.
 */
export async function sortRows(
  request: RehearseRequest,
  client: Client,
  context: Context,
): Promise<SortedRows> {
  const { report, rows } = await readRows(request);
  const known = await knownOf(rows, report, request, client, context);
  const ids = rows.map(({ envelope }) => envelope.templateId);
  const templates = await readTemplates(client, ids, context.interrupt.signal);
  const checked = checkRows(rows, { ...request, templates, report });
  const refusedRows = new Map(refusedByAccount(known).map((one) => [one.line, one]));
  const existing = new Set(known.existing.map(({ line }) => line));
  const wouldSend = checked.sendable.filter(({ line }) => !existing.has(line) && !refusedRows.has(line));
  const { allowed, guarded, guard } = await checkGuards(wouldSend, request.waves?.sizes[0], client, context);
  for (const { line } of checked.refused) refusedRows.delete(line);
  const allowedLines = new Set(allowed.map(({ line }) => line));
  return {
    report,
    templates,
    sendable: allowed,
    failed: [...checked.refused, ...refusedRows.values(), ...guarded].sort((a, b) => a.line - b.line),
    existing: checked.sendable.filter(({ line }) => existing.has(line)).length,
    drafts: known.drafts.filter(({ line }) => allowedLines.has(line)).length,
    guard,
  };
}

/** Reads and checks the file. Returns the rows that have no problem. */
async function readRows(request: RehearseRequest): Promise<{ report: FileReport; rows: BulkRow[] }> {
  const { file, defaults, read } = request;
  const rows: BulkRow[] = [];
  const take = (row: BulkRow) => void rows.push(row);
  const report = await checkFile(sourceOf(file), { ...defaults, read, take, everyRow: true });
  if (report.rows === 0) throw refused(report);
  return { report, rows };
}

async function knownOf(
  rows: readonly BulkRow[],
  report: FileReport,
  { again, mode, skipExisting }: RehearseRequest,
  client: Client,
  context: Context,
): Promise<KnownRows> {
  const newRows = new NewRows(again);
  for (const row of rows) newRows.add(row);
  const earlier = await readEarlierRows({ report, rows: newRows }, client, context);
  const known = await findKnownRows(mode, { rows: newRows, earlier }, client, context);
  if (skipExisting) await skipCovered(rows.map(rowSignersOf), known, report, context);
  return known;
}

function refusedByAccount({ unfinished, other, ended }: KnownRows): UnsentRow[] {
  return [
    ...unfinished.map(({ line, run = '' }) =>
      failedRow(
        line,
        'USAGE',
        `The row belongs to ${run}, which has not finished. Resume it: \`${command('bulk', 'resume', run)}\`.`,
      ),
    ),
    ...other.map((row) => failedRow(row.line, 'USAGE', `request_id: ${otherText(row)}.`)),
    ...ended.map((row) => failedRow(row.line, 'INVALID_STATE', endedMessage(row))),
  ];
}

/** Separates the rows with a recipient that a guard doesn't allow. The first wave has `waveSize` rows; all if it is undefined. */
async function checkGuards(
  rows: readonly BulkRow[],
  waveSize: number | undefined,
  { send }: Client,
  { session, interrupt }: Context,
): Promise<{ allowed: BulkRow[]; guarded: UnsentRow[]; guard: GuardError | undefined }> {
  // Nothing would be written, so a refusal isn't logged.
  const gate = (await session.openGate(interrupt.signal))(send);
  const problemOf = async (of: readonly BulkRow[]): Promise<GuardError | undefined> => {
    const emails = of.flatMap(({ envelope }) => envelope.signers.map(({ email }) => email));
    const emailCount = of.slice(0, waveSize).reduce((sum, { envelope }) => sum + envelope.signers.length, 0);
    try {
      await gate.check([{ action: 'create', emails, sends: true, emailCount }]);
      return undefined;
    } catch (error) {
      if (!(error instanceof GuardError)) throw error;
      return error;
    }
  };
  const allowed: BulkRow[] = [];
  const guarded: UnsentRow[] = [];
  const problem = rows.length === 0 ? undefined : await problemOf(rows);
  for (const row of rows) {
    const own = problem?.code === 'RECIPIENT_NOT_ALLOWED' ? await problemOf([row]) : undefined;
    if (own?.code === 'RECIPIENT_NOT_ALLOWED') guarded.push(failedRow(row.line, own.code, own.message));
    else allowed.push(row);
  }
  const rest = guarded.length > 0 && allowed.length > 0 ? await problemOf(allowed) : problem;
  return { allowed, guarded, guard: allowed.length === 0 ? undefined : rest };
}

function failedRow(line: number, code: string, message: string): UnsentRow {
  return { line, error: { code, message, status: null, details: null } };
}
