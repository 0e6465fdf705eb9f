import type { Client } from '../../api/client.ts';
import { RESERVE } from '../../api/limits.ts';
import type { PlannedWrite } from '../../api/write-gate.ts';
import { noteRefusal } from '../../cli/dry-run.ts';
import { confirmed } from '../../cli/input/confirm.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { safeBlock } from '../../output/text.ts';
import type { Context } from '../../session/context.ts';
import type { Session } from '../../session/session.ts';
import type { ReadOptions } from '../../tables/table-file.ts';
import type { Mode } from '../entries.ts';
import { requestsFor, timeByWindow } from '../estimate.ts';
import { type EarlierRow, NewRows } from '../lookup/earlier-rows.ts';
import { type KnownRows, knownEntries } from '../lookup/known-rows.ts';
import { checkFile, type FileReport } from '../rows/check-file.ts';
import { checkTemplates } from '../rows/check-templates.ts';
import type { BulkRow, RowDefaults } from '../rows/row.ts';
import { draftRun, type OpenRun, type RunDraft, withStartLock } from '../runs.ts';
import { type Preflight, preflightText, writePreflight } from './preflight-text.ts';
import { linesOf, refused, sourceOf } from './rows-file.ts';
import {
  findKnownRows,
  otherText,
  readEarlierRows,
  refuseUnfinished,
  reportKnown,
  reportNothingToDo,
} from './skipped-rows.ts';

/** A list to send, and the flags that determine what is sent, and how. */
interface RunRequest {
  file: string;
  read: ReadOptions;
  defaults: RowDefaults;
  mode: Mode;
  /** Send only this many rows. */
  first: number | undefined;
  /** Send rows even if an earlier run has sent them. */
  again: boolean;
  /** Continue even if a role of the template has no signer. */
  allowMissing: boolean;
  yes: boolean | undefined;
}

/**
 * Checks a whole file, shows what a run of it would do, and asks for confirmation. Then stores the run; nothing has been sent
 * yet. Returns undefined if nothing is left to send; no run is kept then.
 * @throws UsageError with every problem of the file, or when the user did not confirm.
 */
export async function prepareRun(
  request: RunRequest,
  client: () => Promise<Client>,
  context: Context,
): Promise<OpenRun | undefined> {
  preferLowMemory();
  const draft = await draftRun(runsDir(), context.session.clock.now());
  try {
    const checked = await checkRows(request, draft, client, context);
    if (checked.report.rows === 0) {
      await draft.discard();
      context.terminal.notice('The list has no rows. Nothing was sent.');
      return undefined;
    }
    const { existing, ended } = checked.known;
    if (existing.length + ended.length === checked.report.rows) {
      await draft.discard();
      await reportNothingToDo(checked.known, checked.report, context);
      return undefined;
    }
    await confirmRun(request, checked, await client(), context);
    return await withStartLock(runsDir(), context.session.clock, async () => {
      const now = await readEarlierRows(checked.rows, await client(), context);
      if (!isSame(now, checked.earlier))
        throw new UsageError('Another run with the same rows started in the meantime, so nothing was sent.', {
          hint: 'Run the command again.',
        });
      return startRun(draft, request, checked, await client(), context.session);
    });
  } catch (error) {
    await draft.discard();
    throw error;
  }
}

/** Checks a whole file and prints what a run of it would do; nothing is stored. */
export async function showDryRun(
  request: RunRequest,
  client: () => Promise<Client>,
  context: Context,
): Promise<void> {
  const { terminal, session } = context;
  const checked = await checkRows(request, undefined, client, context);
  const preflight = preflightOf(request, checked, await client(), session);
  await writePreflight(preflight, terminal, terminal.json);
  await noteRefusal(preflight.rows > 0 ? [plannedWrite(checked, request)] : [], context);
}

/** A file that was checked, and what earlier runs did for its rows. */
interface CheckedRun {
  report: FileReport;
  rows: NewRows;
  /** The addresses of all signers. */
  emails: string[];
  /** The number of signers in each row. */
  signerCounts: number[];
  /** The results of earlier runs on this machine. */
  earlier: Map<number, EarlierRow>;
  known: KnownRows;
}

async function checkRows(
  request: RunRequest,
  draft: RunDraft | undefined,
  client: () => Promise<Client>,
  context: Context,
): Promise<CheckedRun> {
  const source = sourceOf(request.file);
  const { name } = source;
  const rows = new NewRows(request.again);
  const emails: string[] = [];
  const signerCounts: number[] = [];
  const take = async (row: BulkRow) => {
    rows.add(row);
    const { signers } = row.envelope;
    for (const { email } of signers) emails.push(email);
    signerCounts.push(signers.length);
    await draft?.add(row);
  };
  const report = await context.terminal.waiting(`Checking ${name}`, () =>
    // A list from another command may be empty, such as that of those who still have to sign.
    checkFile(source, {
      ...request.defaults,
      read: request.read,
      take,
      mayBeEmpty: request.file === '-',
    }),
  );
  const allowed = request.allowMissing || asksForConfirmation(request, context.terminal);
  try {
    await checkTemplates(await client(), report, allowed, context.interrupt.signal);
  } catch (error) {
    // The problems of the file can be fixed without the service.
    if (report.problems.count === 0) throw error;
  }
  if (report.warnings.count > 0)
    context.terminal.err(safeBlock(`Warnings:\n${linesOf(report.warnings, name).join('\n')}\n`));
  if (report.unnamed > 0) {
    const have = report.unnamed === 1 ? 'has' : 'have';
    context.terminal.notice(
      `${counted(report.unnamed, 'signer')} ${have} no name; the email address is used as the name.`,
    );
  }
  if (report.problems.count > 0) throw refused(report);
  const earlier = await readEarlierRows(rows, await client(), context);
  const known = await knownRows(request, { report, rows, earlier }, await client(), context);
  refuseUnfinished(known, context);
  reportKnown(known, report, context);
  return { report, rows, emails, signerCounts, earlier, known };
}

function isSame(one: ReadonlyMap<number, EarlierRow>, other: ReadonlyMap<number, EarlierRow>): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(
    ([row, { kind, run }]) => other.get(row)?.kind === kind && other.get(row)?.run === run,
  );
}

/** Returns what already exists for the rows. @throws UsageError when a request ID was used for something else. */
async function knownRows(
  { mode }: RunRequest,
  { report, rows, earlier }: Pick<CheckedRun, 'report' | 'rows' | 'earlier'>,
  client: Client,
  context: Context,
): Promise<KnownRows> {
  const known = await findKnownRows(mode, { rows, earlier }, client, context);
  for (const row of known.other)
    report.problems.add({ line: row.line, column: 'request_id', text: otherText(row) });
  if (report.problems.count > 0) throw refused(report);
  return known;
}

function preflightOf(
  request: RunRequest,
  { report, known }: CheckedRun,
  client: Client,
  session: Session,
): Preflight {
  const { mode } = request;
  const window = client.window?.reading();
  const done = [...known.existing, ...known.ended];
  const rows = report.rows - done.length;
  const requests = requestsFor(rows - known.drafts.length, mode) + known.drafts.length;
  return {
    file: report.name,
    rows,
    existing: known.existing.length,
    signers: done.reduce((left, { signers }) => left - signers, report.signers),
    templates: [...report.templates.keys()],
    // Another row's email would be misleading.
    example: doneRows(known).has(1) ? undefined : report.example,
    mode,
    requests,
    window,
    rateLimitMs: timeByWindow(requests, window, RESERVE, session.clock.now()),
  };
}

/** Returns true if the user sees the warnings and is asked before anything is sent. */
function asksForConfirmation({ yes }: RunRequest, terminal: CommandTerminal): boolean {
  return terminal.canAsk && !yes && !terminal.json;
}

/** Shows what a run will do and asks for confirmation. Drafts email nobody, so without a terminal, only sending needs --yes. */
async function confirmRun(
  request: RunRequest,
  checked: CheckedRun,
  client: Client,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const { json } = terminal;
  const preflight = preflightOf(request, checked, client, context.session);
  if (!json) terminal.err(preflightText(preflight, terminal));
  const { rows, signers } = preflight;
  const sends = request.mode !== 'draft';
  const clearance = rows > 0 ? await client.checkWrites([plannedWrite(checked, request)]) : undefined;
  const isAsked = checked.report.isIncomplete && !request.allowMissing;
  const question = sends
    ? `Send ${theFirst(rows, request)}${counted(rows, 'envelope')} to ${counted(signers, 'signer')}?`
    : `Create ${counted(rows, 'draft')}?`;
  const isAgreed = request.yes || clearance?.isConfirmed;
  if (!isAgreed && (rows > 1 || (rows === 1 && isAsked)))
    await confirmed(question, { yes: !sends && !terminal.canAsk, otherwise: 'nothing was sent' }, context);
  await clearance?.confirm();
}

/** Returns the write for the guards to check. It covers all rows, but this command emails only those of --first. */
function plannedWrite(
  { emails, signerCounts, known, report }: CheckedRun,
  { mode, first }: RunRequest,
): PlannedWrite {
  const done = doneRows(known);
  const last = lastOfFirst(first, report.rows, done);
  let emailCount = 0;
  for (const [index, count] of signerCounts.entries())
    if (index < last && !done.has(index + 1)) emailCount += count;
  return { action: 'create', emails, sends: mode !== 'draft', emailCount };
}

async function startRun(
  draft: RunDraft,
  request: RunRequest,
  { report, known }: CheckedRun,
  client: Client,
  session: Session,
): Promise<OpenRun> {
  const { baseUrl, profileName } = await session.settings();
  const head = {
    at: session.clock.now(),
    file: report.name,
    total: report.rows,
    signers: report.signers,
    mode: request.mode,
    baseUrl: baseUrl?.value ?? '',
    profile: profileName?.value ?? null,
    ownRequestIds: report.ownRequestIds,
    account: client.account,
    again: request.again,
    source: report.source,
  };
  const last = lastOfFirst(request.first, report.rows, doneRows(known));
  const limit = { type: 'upTo', row: last, at: head.at } as const;
  return draft.start(head, [...(last < report.rows ? [limit] : []), ...knownEntries(known)]);
}

function doneRows({ existing, ended }: KnownRows): Set<number> {
  return new Set([...existing, ...ended].map(({ row }) => row));
}

/** Returns the last row if the first rows that are not done yet are sent. */
function lastOfFirst(first: number | undefined, rows: number, done: ReadonlySet<number>): number {
  let left = first ?? rows;
  for (let row = 1; row <= rows; row++) {
    if (done.has(row)) continue;
    if (left === 0) return row - 1;
    left--;
  }
  return rows;
}

/** Returns `the first 20 of ` if only these are sent. */
function theFirst(rows: number, { first }: RunRequest): string {
  return first === undefined || first >= rows ? '' : `the first ${grouped(first)} of `;
}
