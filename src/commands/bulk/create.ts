import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { readBulkFile } from '../../bulk/file.ts';
import { bulkFlags } from '../../cli/bulk-flags.ts';
import { agreeOn, bulkClient, executeRun, prepareRun, runStore, writePlan } from '../../cli/bulking.ts';
import { EsignCommand } from '../../cli/command.ts';
import { dryRunFlag, yesFlag } from '../../cli/flags.ts';
import { readWebhookSecret } from '../../cli/secrets.ts';

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
    send: Flags.boolean({ description: 'send them to their signers; drafts without it', default: false }),
    'one-step': Flags.boolean({
      description: 'create and send with one request each; a lost reply then needs `bulk resume`',
      default: false,
    }),
    ...bulkFlags,
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkCreate);
    const around = this.surroundings(flags);
    const dryRun = flags['dry-run'];
    const client = await bulkClient(around, flags.reserve ?? 0.1);
    const webhookSecret = await readWebhookSecret(flags['webhook-secret-file'], 'in rows', around);
    const { template, send } = flags;
    const options = { template, send, oneStep: send && flags['one-step'], keep: !dryRun };
    const head = await prepareRun(await readBulkFile(args.file), options, around);
    try {
      await agreeOn(head, client, { yes: flags.yes, dryRun }, around);
    } catch (error) {
      await runStore().discard(head.id);
      throw error;
    }
    if (dryRun) return writePlan(head, around);
    await executeRun(head.id, head, { client, flags, webhookSecret }, around);
  }
}
