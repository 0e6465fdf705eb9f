import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { writeDryRun } from '../../cli/dry-run.ts';
import { reminding } from '../../cli/envelopes/actions.ts';
import { confirmMany, forEachId } from '../../cli/envelopes/each.ts';
import { withReminderLog } from '../../cli/envelopes/reminder-log.ts';
import { renderAction } from '../../cli/envelopes/view.ts';
import { dryRunFlag, durationFlag, yesFlag } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import { remindWithGap } from '../../envelopes/reminders.ts';

export default class EnvelopesRemind extends EsignCommand {
  static override summary = 'Mail a reminder to the signers who have not signed yet.';
  static override examples = [
    '<%= config.bin %> envelopes remind env_123',
    '<%= config.bin %> envelopes remind env_123 --signer ada@example.com',
    '<%= config.bin %> envelopes list --status SENT --older-than 7d --all -q | <%= config.bin %> envelopes remind - --min-gap 24h --yes',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = {
    signer: Flags.string({
      description: 'only this signer; all pending ones without it',
      helpValue: 'ID|EMAIL',
    }),
    'min-gap': durationFlag({
      description: 'mail nobody who was reminded from this machine less than this ago',
      helpValue: '24h',
    }),
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesRemind);
    const context = this.context(flags);
    const ids = await readIds(argv.map(String), 'envelope id');
    const client = await context.client();
    if (flags['dry-run']) return writeDryRun(ids, 'remind', context);
    await confirmMany(ids.ids.length, 'Mail reminders for', flags, context);
    const { signer, 'min-gap': gapMs = 0 } = flags;
    await withReminderLog(context, { required: gapMs > 0 }, (log) =>
      forEachId(
        {
          ids,
          act: (id) => remindWithGap(client, log, { id, signer, gapMs }, context.signal),
          show: (envelope) => renderAction('Reminded', envelope, context.terminal),
          action: reminding(ids),
        },
        context,
      ),
    );
  }
}
