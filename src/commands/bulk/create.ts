import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { bulkFlags } from '../../cli/bulk/flags.ts';
import { checkRun, prepareRun } from '../../cli/bulk/prepare.ts';
import { BulkProgress } from '../../cli/bulk/progress.ts';
import { bulkClient, RESERVE, runToTheEnd } from '../../cli/bulk/run.ts';
import { writePreflight } from '../../cli/bulk/view.ts';
import { EsignCommand } from '../../cli/command.ts';
import { dryRunFlag, missingRolesFlag, yesFlag } from '../../cli/flags.ts';
import { readWebhookSecret } from '../../cli/input/secrets.ts';

export default class BulkCreate extends EsignCommand {
  static override summary = 'Create envelopes from a CSV or JSON Lines file, one for each row.';
  static override description =
    'Columns: email,name,role,order (or signer1_email, signer1_name … signerN_…), template_id, subject, message, expires_in_days, meta.KEY, request_id. Every row is checked before the first request. With --send, drafts are made first and then sent, so that nobody is mailed twice. A run that was interrupted goes on with `bulk resume`.';
  static override examples = [
    '<%= config.bin %> bulk template leases.csv --template tmpl_lease',
    '<%= config.bin %> bulk create leases.csv --template tmpl_lease --dry-run',
    '<%= config.bin %> bulk create leases.csv --template tmpl_lease --send',
    "jq -c '.people[]' export.json | <%= config.bin %> bulk create - --template tmpl_nda --send --yes --json",
  ];
  static override args = {
    file: Args.string({
      description: 'CSV or JSON Lines, or - for stdin',
      required: true,
      ignoreStdin: true,
    }),
  };
  static override flags = {
    template: Flags.string({ description: 'template for rows that name none', helpValue: 'ID' }),
    // Neither has a default: it would count as given.
    send: Flags.boolean({ description: 'send them to their signers; drafts without it' }),
    'one-step': Flags.boolean({
      dependsOn: ['send'],
      description: 'create and send with one request each; a lost reply then needs `bulk resume`',
    }),
    ...bulkFlags,
    again: Flags.boolean({
      description: 'begin anew although an earlier run of the same rows is not at its end',
      default: false,
    }),
    'allow-missing-roles': missingRolesFlag,
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkCreate);
    const context = this.context(flags);
    const progress = new BulkProgress(context);
    const client = () => bulkClient(flags, progress, context);
    const webhookSecret = await readWebhookSecret(flags['webhook-secret-file'], 'in rows', context);
    const sending = flags['one-step'] ? 'one-step' : 'two-step';
    const wanted = {
      file: args.file,
      template: flags.template,
      mode: flags.send ? sending : 'draft',
      reserve: flags.reserve ?? RESERVE,
      yes: flags.yes,
      again: flags.again,
      allowMissing: flags['allow-missing-roles'],
    } as const;
    if (flags['dry-run'])
      return writePreflight(await checkRun(wanted, client, context), context.terminal, context.json);
    const run = await prepareRun(wanted, client, context);
    await runToTheEnd(run, { client: await client(), flags, webhookSecret, progress }, context);
  }
}
