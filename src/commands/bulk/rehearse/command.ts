import * as Flags from '@oclif/core/flags';
import { RESERVE } from '../../../api/defaults.ts';
import { EsignCommand } from '../../../cli/command.ts';
import { inGroup } from '../../../cli/flags.ts';
import { readMessage } from '../../../cli/input/files.ts';
import { readWebhookSecret } from '../../../cli/input/secrets.ts';
import { DEFAULT_DAYS } from '../../../rehearsal/defaults.ts';
import BulkCreate from '../create.ts';
import { showRehearsal } from './run.ts';

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
      days: Flags.integer({
        description: `days to simulate (default ${DEFAULT_DAYS})`,
        min: 1,
        max: 365,
        helpValue: 'N',
      }),
      'random-seed': Flags.integer({
        description: 'random number seed; the same seed gives the same result (default 1)',
        min: 0,
        max: 4_294_967_295,
        helpValue: 'N',
      }),
      html: Flags.string({
        description: 'also write an HTML page to this file, for whoever approves the list',
        helpValue: 'FILE',
      }),
      plan: Flags.string({
        description: 'write a plan for `bulk create --plan` to this file; replaces an older plan',
        helpValue: 'FILE',
      }),
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkRehearse);
    const context = this.context(flags);
    await showRehearsal(
      {
        file: args.file,
        read: flags,
        defaults: { templateId: flags.template, subject: flags.subject, message: await readMessage(flags) },
        mode: flags['one-step'] ? 'one-step' : 'two-step',
        reserve: flags.reserve ?? RESERVE,
        concurrency: flags.concurrency,
        again: flags.again,
        allowMissing: flags['allow-missing-roles'],
        skipExisting: flags['skip-existing'],
        webhookSecret: await readWebhookSecret(flags['webhook-secret-file'], 'in rows', context.terminal),
        waves: flags.waves === undefined ? undefined : { sizes: flags.waves, stopIf: flags['stop-if'] ?? [] },
        plan: flags.plan,
        html: flags.html,
        days: flags.days ?? DEFAULT_DAYS,
        seed: flags['random-seed'],
      },
      context,
    );
  }
}
