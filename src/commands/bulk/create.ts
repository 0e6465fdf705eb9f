import type { InferredFlags } from '@oclif/core/interfaces';
import { RESERVE } from '../../api/defaults.ts';
import { PLAN_AGE_MS } from '../../bulk/defaults.ts';
import type { Mode } from '../../bulk/entries.ts';
import { EsignCommand } from '../../cli/command.ts';
import {
  booleanFlag,
  dryRunFlag,
  durationFlag,
  inGroup,
  messageFileFlag,
  missingRolesFlag,
  readFlags,
  rowsFile,
  textFlag,
  yesFlag,
} from '../../cli/flags.ts';
import { readMessage } from '../../cli/input/files.ts';
import { readWebhookSecret } from '../../cli/input/secrets.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { durationText } from '../../kernel/duration.ts';
import { bulkFlags } from './flags.ts';
import type { RunRequest } from './plan.ts';
import { prepareRun, showDryRun } from './prepare.ts';
import { BulkProgress } from './progress.ts';
import { bulkClient, runToCompletion } from './run.ts';
import { waveFlags } from './waves.ts';

export default class BulkCreate extends EsignCommand {
  static override summary = 'Create envelopes from a CSV, .xlsx, or JSON Lines file, one for each row.';
  static override description =
    'Columns: email,name,role,order (or signer1_email, signer1_name … signerN_…), template_id, subject, message, expires_in_days, signing_order, webhook_url, meta.KEY, request_id. Subject and message, in the file or as flags, can contain {column}, such as {name} or {meta.KEY}. Every row is checked before the first request. With --send, drafts are created first and then sent, so that nobody is emailed twice. Rows that were sent from this machine in the last 30 days are skipped: fix a row, run the file again, and only that row is sent. Resume an interrupted run with `bulk resume`.';
  static override examples = [
    '<%= config.bin %> bulk template leases.csv --template tmpl_lease',
    '<%= config.bin %> bulk create leases.csv --template tmpl_lease --dry-run',
    '<%= config.bin %> bulk create leases.csv --template tmpl_lease --send',
    "<%= config.bin %> bulk create leases.csv --template tmpl_lease --send --waves 20,200,rest --stop-if 'declined>2%,failed>1%'",
    "<%= config.bin %> bulk create people.xlsx --template tmpl_nda --subject 'NDA for {name}' --dry-run",
    '<%= config.bin %> bulk create leases.csv --template tmpl_lease --plan leases.plan.json --send',
    "jq -c '.people[]' export.json | <%= config.bin %> bulk create - --template tmpl_nda --send --yes --json",
  ];
  static override args = rowsFile;
  static override flags = {
    template: textFlag('ID', 'template for rows without a template_id'),
    ...readFlags,
    ...inGroup('EMAIL', {
      subject: textFlag('TEXT', 'email subject for rows without one; can contain {column}'),
      message: textFlag('TEXT', 'email message for rows without one; can contain {column}', {
        exclusive: ['message-file'],
      }),
    }),
    'message-file': messageFileFlag,
    // Neither flag has a default, because oclif would count it as given.
    send: booleanFlag('send the envelopes; without it, they stay drafts'),
    'one-step': booleanFlag(
      'create and send in one request per row; after a lost response, run `bulk resume`',
      { dependsOn: ['send'] },
    ),
    ...bulkFlags,
    ...waveFlags,
    again: booleanFlag('resend rows that were sent in the last 30 days, except those with a request_id', {
      default: false,
    }),
    'skip-existing': booleanFlag(
      'skip rows whose signers have signed the template or have an open envelope',
      { default: false },
    ),
    'allow-missing-roles': missingRolesFlag,
    ...inGroup('PLAN', {
      plan: textFlag(
        'PLAN',
        'plan from `bulk rehearse`; nothing is sent if the rows, flags, templates, base URL, or key differ',
      ),
      'plan-age': {
        ...durationFlag('24h', `maximum plan age (default ${durationText(PLAN_AGE_MS)})`),
        dependsOn: ['plan'],
      },
    }),
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(BulkCreate);
    const progress = new BulkProgress(context);
    const client = () => bulkClient(flags, progress, context.session);
    const sending = await sendRequest(args.file, flags, context.terminal);
    const request = {
      ...sending,
      mode: flags.send ? sending.mode : ('draft' as const),
      yes: flags.yes,
      plan:
        flags.plan === undefined
          ? undefined
          : { path: flags.plan, maxAgeMs: flags['plan-age'] ?? PLAN_AGE_MS },
    };
    const { webhookSecret } = request;
    if (flags['dry-run']) return showDryRun(request, client, context);
    const run = await prepareRun(request, client, context);
    if (run === undefined) return;
    await runToCompletion(run, { client: await client(), flags, webhookSecret, progress }, context);
  }
}

/** Returns the request of these flags, for rows that are to be sent. */
export async function sendRequest(
  file: string,
  flags: InferredFlags<typeof BulkCreate.flags>,
  terminal: CommandTerminal,
): Promise<RunRequest & { mode: Exclude<Mode, 'draft'> }> {
  return {
    file,
    read: flags,
    defaults: { templateId: flags.template, subject: flags.subject, message: await readMessage(flags) },
    mode: flags['one-step'] ? 'one-step' : 'two-step',
    reserve: flags.reserve ?? RESERVE,
    again: flags.again,
    skipExisting: flags['skip-existing'],
    allowMissing: flags['allow-missing-roles'],
    webhookSecret: await readWebhookSecret(flags['webhook-secret-file'], terminal),
    waves: flags.waves === undefined ? undefined : { sizes: flags.waves, stopIf: flags['stop-if'] ?? [] },
  };
}
