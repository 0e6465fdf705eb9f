import { EsignCommand } from '../../cli/command.ts';
import {
  booleanFlag,
  dryRunFlag,
  inGroup,
  messageFileFlag,
  missingRolesFlag,
  rowsFile,
  textFlag,
} from '../../cli/flags.ts';
import { readMessage } from '../../cli/input/files.ts';
import type { Context } from '../../cli/session/context.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { draftRun } from '../../runs/runs.ts';
import { bulkFlags, fileFlags } from './bulk-flags.ts';
import { confirmNewRun, printNewRunPlan } from './run/confirm-work.ts';
import { refuseBusyRuns } from './run/continued-runs.ts';
import {
  type BulkRequest,
  findSentRows,
  planRun,
  readRows,
  type StartedRun,
  startRun,
} from './run/new-run.ts';
import { reportNothingToDo } from './run/sent-rows.ts';
import { createRunTools, type RunTools, workOnRun } from './run/work-on-run.ts';
import { showFindings } from './show-findings.ts';

export default class BulkCreate extends EsignCommand {
  static override summary = 'Create envelopes from a CSV, .xlsx, or JSON Lines file, one for each row.';
  static override description =
    'Columns: email,name,role,order (or signer1_email, signer1_name … signerN_…), template_id, subject, message, expires_in_days, signing_order, webhook_url, meta.KEY, request_id. Subject and message, in the file or as flags, can contain {column}, such as {name} or {meta.KEY}. Every row is checked before the first request. With --send, all drafts are created first and then sent, so that nobody is emailed until the last row has been accepted. Rows that were sent in the last 30 days, by any command on any machine, are skipped: run the file again to send corrected and added rows, or the rest of an interrupted run.';
  static override examples = [
    '<%= config.bin %> bulk template leases.csv --template tmpl_lease',
    '<%= config.bin %> bulk create leases.csv --template tmpl_lease --dry-run',
    '<%= config.bin %> bulk create leases.csv --template tmpl_lease --send',
    '<%= config.bin %> bulk create leases.csv --template tmpl_lease --send --first 20',
    "<%= config.bin %> bulk create people.xlsx --template tmpl_nda --subject 'NDA for {name}' --dry-run",
    "jq -c '.people[]' export.json | <%= config.bin %> bulk create - --template tmpl_nda --send --yes --json",
  ];
  static override args = rowsFile;
  static override flags = {
    template: textFlag('ID', 'template for rows without a template_id'),
    ...fileFlags,
    ...inGroup('EMAIL', {
      subject: textFlag('TEXT', 'email subject for rows without one; can contain {column}'),
      message: textFlag('TEXT', 'email message for rows without one; can contain {column}', {
        exclusive: ['message-file'],
      }),
    }),
    'message-file': messageFileFlag,
    send: booleanFlag('send the envelopes; without it, they stay drafts', { default: false }),
    ...bulkFlags,
    again: booleanFlag('send rows again that were sent in the last 30 days, except those with a request_id', {
      default: false,
    }),
    'allow-missing-roles': missingRolesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(BulkCreate);
    const means = await createRunTools(flags, context);
    const request: BulkRequest = {
      file: args.file,
      read: flags,
      defaults: { templateId: flags.template, subject: flags.subject, message: await readMessage(flags) },
      mode: flags.send ? 'two-step' : 'draft',
      first: flags.first,
      again: flags.again,
      allowMissing: flags['allow-missing-roles'],
      yes: flags.yes,
    };
    const started = await prepareRun(request, flags['dry-run'], means, context);
    if (started !== undefined) await workOnRun(started.run, means, context, started.look);
  }
}

/**
 * Takes a list through all stages before the first row is sent. Returns undefined if nothing is to be sent. What only these stages
 * need is freed before the work begins.
 */
async function prepareRun(
  request: BulkRequest,
  isDryRun: boolean,
  means: RunTools,
  context: Context,
): Promise<StartedRun | undefined> {
  const draft = isDryRun ? undefined : await draftRun(runsDir(), context.session.clock.now());
  try {
    const list = await readRows(request, draft, context);
    const sent = await findSentRows(list, request, means, context);
    showFindings(list.report, context.terminal);
    await refuseBusyRuns(sent.unfinished);
    const planned = planRun(list, sent, request);
    if (draft === undefined) await printNewRunPlan(planned, await means.client(), context);
    else if (planned.work.rows === 0) await reportNothingToDo(planned, context);
    else {
      await confirmNewRun(planned, await means.client(), context);
      return await startRun(draft, planned, means, context);
    }
  } finally {
    await draft?.discard();
  }
  return undefined;
}
