import { timeByWindow } from '../../../bulk/estimate.ts';
import type { Context } from '../../../cli/context.ts';
import { writeNewFile } from '../../../cli/new-file.ts';
import { readAccount } from '../../../cli/selection/account.ts';
import { counted } from '../../../kernel/duration.ts';
import { PartialError, ServiceError } from '../../../kernel/errors.ts';
import { writeJson } from '../../../output/json.ts';
import { standInsFor } from '../../../rehearsal/check.ts';
import { DEFAULT_RATE, DEFAULT_SEED } from '../../../rehearsal/defaults.ts';
import { AccountHistory } from '../../../rehearsal/history.ts';
import { type Rehearsal, rehearse } from '../../../rehearsal/rehearse.ts';
import { startRehearsalService } from '../../../rehearsal/service.ts';
import { HISTORY_MS } from '../../../statistics/defaults.ts';
import { sentRoles } from '../../../templates/roles.ts';
import { requirePlanPath, writePlan } from '../plan.ts';
import { caveatsOf } from './caveats.ts';
import { rehearsalPage } from './page.ts';
import type { RehearsalResult, RehearseRequest } from './result.ts';
import { type SortedRows, sortRows } from './rows.ts';
import { rehearsalText } from './view.ts';

/** Rehearses a list and shows the result. @throws PartialError when a row would not be sent. */
export async function showRehearsal(request: RehearseRequest, context: Context): Promise<void> {
  const { terminal } = context;
  if (request.plan !== undefined) await requirePlanPath(request.plan);
  const result = await rehearseFile(request, context);
  if (request.html !== undefined)
    await writeNewFile(request.html, rehearsalPage(result, request), true, terminal);
  if (request.html !== '-') {
    if (terminal.json) await writeJson(jsonOf(result, request.plan), terminal);
    else await terminal.out(rehearsalText(result, request, terminal));
  }
  if (request.plan !== undefined) terminal.notice(`Plan written: ${request.plan}`);
  const failed = result.failed.length;
  if (failed === 0) return;
  throw new PartialError(`${counted(failed, 'row')} would not be sent, as shown above.`, {
    hint: `Fix ${failed === 1 ? 'that row' : 'those rows'} in ${request.file} and run the rehearsal again.`,
  });
}

async function rehearseFile(request: RehearseRequest, context: Context): Promise<RehearsalResult> {
  const { session } = context;
  let realRequests = 0;
  session.restrictToReads(() => realRequests++);
  const client = await session.client();
  const { history, isRead } = await readHistory(context);
  const rows = await sortRows(request, client, context);
  const reading = client.window?.reading();
  const rate = { ...DEFAULT_RATE, requests: reading?.limit ?? DEFAULT_RATE.requests };
  const result = await inSandbox(request, { rows, rate, history }, context);
  // An existing draft is only sent, but in the sandbox, it also had to be created.
  const requests = result.requests - rows.drafts;
  const windowMs = timeByWindow(requests, reading, request.reserve, session.clock.now()) ?? 0;
  const failed = [...rows.failed, ...result.failed].sort((a, b) => a.line - b.line);
  const whole = { ...result, requests, failed };
  const { report, templates, sendable, guard } = rows;
  if (request.plan !== undefined)
    await writePlan(request.plan, { planned: request, report, templates, result: whole }, context);
  const sentThisMonth = history.sentThisMonth + result.envelopes;
  return {
    ...whole,
    seconds: Math.ceil(windowMs / 1_000),
    rows: report.rows,
    sendable,
    existing: rows.existing,
    drafts: rows.drafts,
    sentThisMonth,
    realRequests,
    rate: { requests: rate.requests, reserve: request.reserve },
    caveats: caveatsOf({
      basis: result.basis,
      isHistoryRead: isRead,
      withoutRoles: [...templates.values()].flatMap((one) =>
        one && sentRoles(one).length === 0 ? one.id : [],
      ),
      hasRate: reading !== undefined,
      hasWaves: request.waves !== undefined,
      sendable,
      guard,
      sentThisMonth,
    }),
    at: session.now(),
    baseUrl: (await session.settings()).baseUrl?.value ?? '',
  };
}

/** Sends the rows in a separate sandbox. From here on, nothing needs the network. */
async function inSandbox(
  request: RehearseRequest,
  {
    rows: { templates, sendable },
    rate,
    history,
  }: { rows: SortedRows; rate: { requests: number; seconds: number }; history: AccountHistory },
  { session, terminal, interrupt }: Context,
): Promise<Rehearsal> {
  const service = await terminal.waiting('Starting the sandbox', () =>
    startRehearsalService({
      startsAt: session.now(),
      standIns: standInsFor(templates, sendable),
      rate,
      reserve: request.reserve,
      userAgent: `esign-cli/${session.version}`,
    }),
  );
  try {
    return await terminal.waiting('Rehearsing', () =>
      rehearse(service, {
        ...request,
        rows: sendable,
        seed: request.seed ?? DEFAULT_SEED,
        history,
        signal: interrupt.signal,
        redact: (text) => terminal.redactor.redact(text),
      }),
    );
  } finally {
    await service.close();
  }
}

/** Reads how the account's signers behaved. The history is empty if the key may not list envelopes. */
async function readHistory(context: Context): Promise<{ history: AccountHistory; isRead: boolean }> {
  const selection = { createdAfter: (now: number) => now - HISTORY_MS };
  try {
    const { envelopes } = await readAccount({ selection, scope: 'all' }, context);
    const history = new AccountHistory(context.session.now());
    for await (const envelope of envelopes) history.add(envelope);
    return { history, isRead: true };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'FORBIDDEN') throw error;
    return { history: new AccountHistory(context.session.now()), isRead: false };
  }
}

function jsonOf(result: RehearsalResult, plan: string | undefined) {
  const { envelopes, signers, emails, requests, seconds, failed, expected, basis, realRequests } = result;
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
    sentThisMonth: result.sentThisMonth,
    skipped: result.existing,
    late: result.late,
    caveats: result.caveats.map(({ code }) => code),
  };
}
