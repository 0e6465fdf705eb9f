import { timeByWindow } from '../../../bulk/estimate.ts';
import { EsignCommand } from '../../../cli/command.ts';
import type { Context } from '../../../cli/context.ts';
import { inGroup, numberFlag, textFlag } from '../../../cli/flags.ts';
import { writeNewFile } from '../../../cli/new-file.ts';
import { readAccount } from '../../../cli/selection/account.ts';
import { counted } from '../../../kernel/duration.ts';
import { PartialError, ServiceError } from '../../../kernel/errors.ts';
import { LIMITS } from '../../../kernel/vocabulary.ts';
import { writeJson } from '../../../output/json.ts';
import { standInsFor } from '../../../rehearsal/check.ts';
import { DEFAULT_DAYS, DEFAULT_SEED } from '../../../rehearsal/defaults.ts';
import { AccountHistory } from '../../../rehearsal/history.ts';
import { type Rehearsal, rehearse } from '../../../rehearsal/rehearse.ts';
import { startRehearsalService } from '../../../rehearsal/service.ts';
import { HISTORY_MS } from '../../../statistics/defaults.ts';
import { sentRoles } from '../../../templates/roles.ts';
import BulkCreate, { sendRequest } from '../create.ts';
import { requirePlanPath, writePlan } from '../plan.ts';
import { caveatsOf } from './caveats.ts';
import { rehearsalPage } from './page.ts';
import type { RehearsalResult, RehearseRequest } from './result.ts';
import { type SortedRows, sortRows } from './rows.ts';
import { rehearsalText } from './view.ts';

const { yes, 'dry-run': dryRun, 'plan-age': planAge, ...createFlags } = BulkCreate.flags;

export default class BulkRehearse extends EsignCommand {
  static override summary = 'Rehearse a run: see what would be sent, and when it would be signed.';
  static override description =
    "Starts a private sandbox with the account's rate limit and stand-ins for its templates, and runs `bulk create` there. Simulated signers behave like the signers in this account, and the sandbox's clock runs fast. Only GET requests are sent to the service, and no run is stored. With --plan, writes a plan file, and `bulk create --plan` sends exactly what was rehearsed. Accepts the `bulk create` flags. Rows are always rehearsed as if they were going to be sent.";
  static override examples = [
    '<%= config.bin %> bulk rehearse leases.csv --template tmpl_lease',
    '<%= config.bin %> bulk rehearse leases.csv --template tmpl_lease --days 60 --random-seed 7',
    '<%= config.bin %> bulk rehearse leases.csv --template tmpl_lease --html rehearsal.html',
    '<%= config.bin %> bulk rehearse leases.csv --template tmpl_lease --plan leases.plan.json',
    '<%= config.bin %> bulk rehearse leases.csv --template tmpl_lease --json | jq .expected',
  ];
  static override args = BulkCreate.args;
  static override flags = {
    ...createFlags,
    // Without an effect here. They are accepted so that the flags of a `bulk create` can stay as they are.
    yes: { ...yes, hidden: true },
    'dry-run': { ...dryRun, hidden: true },
    'plan-age': { ...planAge, hidden: true },
    ...inGroup('REHEARSAL', {
      days: numberFlag(`days to simulate (default ${DEFAULT_DAYS})`, { min: 1, max: 365 }),
      'random-seed': numberFlag(
        `random number seed; the same seed gives the same result (default ${DEFAULT_SEED})`,
        {
          min: 0,
          max: 4_294_967_295,
        },
      ),
      html: textFlag('FILE', 'also write an HTML page to this file, for the person who approves the list'),
      plan: textFlag('FILE', 'write a plan for `bulk create --plan` to this file; replaces an older plan'),
    }),
  };

  async run(): Promise<void> {
    const { args, flags, context, terminal } = await this.start(BulkRehearse);
    const request = {
      ...(await sendRequest(args.file, flags, terminal)),
      concurrency: flags.concurrency,
      plan: flags.plan,
      html: flags.html,
      days: flags.days ?? DEFAULT_DAYS,
      seed: flags['random-seed'],
    };
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
    // A name to confirm can still be entered when the list is sent.
    if (failed === 0 && result.guard !== undefined && result.guard.code !== 'CONFIRMATION_REQUIRED')
      throw new PartialError('No row would be sent, because a guard would refuse the list, as shown above.', {
        hint: 'See the guards: `esign profiles show`.',
      });
    if (failed === 0) return;
    throw new PartialError(`${counted(failed, 'row')} would not be sent, as shown above.`, {
      hint: `Fix ${failed === 1 ? 'that row' : 'those rows'} in ${request.file} and run the rehearsal again.`,
    });
  }
}

async function rehearseFile(request: RehearseRequest, context: Context): Promise<RehearsalResult> {
  const { session } = context;
  let realRequests = 0;
  session.restrictToReads(() => realRequests++);
  const client = await session.client();
  const { history, isRead } = await readHistory(context);
  const rows = await sortRows(request, client, context);
  const reading = client.window?.reading();
  const rate = { ...LIMITS.rate, requests: reading?.limit ?? LIMITS.rate.requests };
  const result = await inSandbox(request, { rows, rate, history }, context);
  // An existing draft is only sent, but in the sandbox, it also had to be created.
  const requests = result.requests - rows.drafts;
  const windowMs = timeByWindow(requests, reading, request.reserve, session.clock.now()) ?? 0;
  const failed = [...rows.failed, ...result.failed].sort((a, b) => a.line - b.line);
  const whole = { ...result, requests, failed };
  const { report, templates, sendable, guard } = rows;
  if (request.plan !== undefined)
    await writePlan(request.plan, request, { report, templates, result: whole }, context);
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
      guard: guard?.message,
      sentThisMonth,
    }),
    guard,
    at: session.now(),
    baseUrl: await session.baseUrl(),
  };
}

/** Sends the rows in a separate sandbox. From here on, nothing needs the network. */
async function inSandbox(
  request: RehearseRequest,
  list: { rows: SortedRows; rate: { requests: number; seconds: number }; history: AccountHistory },
  { session, terminal, interrupt }: Context,
): Promise<Rehearsal> {
  const { rate, history } = list;
  const { templates, sendable } = list.rows;
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
