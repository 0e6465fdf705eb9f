import type { Client } from '../../../api/client.ts';
import { timeByWindow } from '../../../bulk/estimate.ts';
import { findEarlierRows, WantedRows } from '../../../bulk/lookup/earlier-rows.ts';
import { checkFile, type FileReport } from '../../../bulk/rows/check-file.ts';
import type { BulkRow } from '../../../bulk/rows/row.ts';
import type { Context } from '../../../cli/context.ts';
import { readAccount } from '../../../cli/selection/account.ts';
import { counted } from '../../../kernel/duration.ts';
import { PartialError } from '../../../kernel/errors.ts';
import { writeJson } from '../../../output/json.ts';
import { checkRows, readTemplates, standInsFor } from '../../../rehearsal/check.ts';
import { DEFAULT_RATE, DEFAULT_SEED } from '../../../rehearsal/defaults.ts';
import { AccountHistory } from '../../../rehearsal/history.ts';
import { rehearse } from '../../../rehearsal/rehearse.ts';
import { startRehearsalService } from '../../../rehearsal/service.ts';
import { HISTORY_MS } from '../../../statistics/defaults.ts';
import { refuseOtherFile, writePlan } from '../plan.ts';
import { runsFolder } from '../prepare.ts';
import { refused, sourceOf } from '../source.ts';
import type { RehearsalResult, RehearseRequest } from './result.ts';
import { rehearsalText } from './view.ts';

/** Rehearses a list and shows the result. @throws PartialError when a row would not be sent. */
export async function showRehearsal(wanted: RehearseRequest, context: Context): Promise<void> {
  const { terminal } = context;
  if (wanted.plan !== undefined) await refuseOtherFile(wanted.plan);
  const result = await rehearseFile(wanted, context);
  if (terminal.json) await writeJson(jsonOf(result, wanted.plan), terminal);
  else await terminal.out(rehearsalText(result, wanted, terminal));
  if (wanted.plan !== undefined) terminal.notice(`Plan written: ${wanted.plan}`);
  const failed = result.failed.length;
  if (failed === 0) return;
  throw new PartialError(`${counted(failed, 'row')} would not be sent; each is listed above.`, {
    hint: `Fix ${failed === 1 ? 'that row' : 'those rows'} in ${wanted.file} and rehearse it again.`,
  });
}

async function rehearseFile(wanted: RehearseRequest, context: Context): Promise<RehearsalResult> {
  const { session, terminal, interrupt } = context;
  let realRequests = 0;
  session.restrictToReads(() => realRequests++);
  const { report, rows } = await readRows(wanted);
  const client = await session.client();
  const templates = await readTemplates(client, templateIdsOf(rows), interrupt.signal);
  const { sendable, refused: failed } = checkRows(rows, { ...wanted, templates, report });
  const fresh = await notYetSent(sendable, { report, again: wanted.again }, client, context);
  const history = await readHistory(context);
  const reading = client.window?.reading();
  const rate = { ...DEFAULT_RATE, requests: reading?.limit ?? DEFAULT_RATE.requests };
  const service = await terminal.waiting('Starting the sandbox', () =>
    startRehearsalService({
      standIns: standInsFor(templates, fresh),
      rate,
      reserve: wanted.reserve,
      userAgent: `esign-cli/${session.version}`,
    }),
  );
  try {
    const result = await terminal.waiting('Rehearsing', () =>
      rehearse(service, {
        ...wanted,
        rows: fresh,
        seed: wanted.seed ?? DEFAULT_SEED,
        history,
        signal: interrupt.signal,
        redact: (text) => terminal.redactor.redact(text),
        onProgress: () => undefined,
      }),
    );
    const windowMs = timeByWindow(result.requests, reading, wanted.reserve, session.clock.now()) ?? 0;
    const allFailed = [...failed, ...result.failed].sort((a, b) => a.line - b.line);
    if (wanted.plan !== undefined)
      await writePlan(
        wanted.plan,
        { wanted, report, templates, result: { ...result, failed: allFailed } },
        context,
      );
    return {
      ...result,
      failed: allFailed,
      seconds: Math.ceil(windowMs / 1_000),
      existing: sendable.length - fresh.length,
      sentThisMonth: history.sentThisMonth + result.envelopes,
      realRequests,
    };
  } finally {
    await service.close();
  }
}

/** Reads and checks the file; rows without a problem of their own are returned. @throws UsageError when no row can be read. */
async function readRows({
  file,
  defaults,
  read,
}: RehearseRequest): Promise<{ report: FileReport; rows: BulkRow[] }> {
  const rows: BulkRow[] = [];
  const take = (row: BulkRow) => void rows.push(row);
  const report = await checkFile(sourceOf(file), { ...defaults, read, take, everyRow: true });
  if (report.rows === 0) throw refused(report);
  return { report, rows };
}

/** The rows that no run on this machine has sent in the last 30 days. */
async function notYetSent(
  rows: readonly BulkRow[],
  { report, again }: { report: FileReport; again: boolean },
  client: Client,
  { session, interrupt }: Context,
): Promise<BulkRow[]> {
  const wanted = new WantedRows(again);
  for (const row of rows) wanted.add(row);
  const baseUrl = (await session.settings()).baseUrl?.value ?? '';
  const file = { wanted, fingerprint: report.fingerprint, baseUrl };
  const earlier = await findEarlierRows(runsFolder(), client, file, interrupt.signal);
  return rows.filter(({ row }) => earlier.get(row)?.kind !== 'sent');
}

async function readHistory(context: Context): Promise<AccountHistory> {
  const selection = { createdAfter: (now: number) => now - HISTORY_MS };
  const { envelopes } = await readAccount({ selection, scope: 'all' }, context);
  const history = new AccountHistory(context.session.now());
  for await (const envelope of envelopes) history.add(envelope);
  return history;
}

function templateIdsOf(rows: readonly BulkRow[]): string[] {
  return rows.map(({ envelope }) => envelope.templateId);
}

function jsonOf(
  { envelopes, signers, emails, requests, seconds, failed, expected, basis, realRequests }: RehearsalResult,
  plan: string | undefined,
) {
  return {
    envelopes,
    signers,
    emails,
    requests,
    seconds,
    failed,
    expected,
    basis,
    realRequests: { GET: realRequests },
    plan: plan ?? null,
  };
}
