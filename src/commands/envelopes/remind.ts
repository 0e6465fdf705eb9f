import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { confirmMany, forEachId, writeDryRun } from '../../cli/each.ts';
import { dryRunFlag, durationFlag, yesFlag } from '../../cli/flags.ts';
import { readIds } from '../../cli/ids.ts';
import { withReminderLog } from '../../cli/reminding.ts';
import { remindWithGap } from '../../envelopes/reminders.ts';
import { renderAction } from '../../output/envelope-view.ts';

export default class EnvelopesRemind extends EsignCommand {
  static override summary = 'Mail a reminder to the signers who have not signed yet.';
  static override examples = [
    '<%= config.bin %> envelopes remind env_123',
    '<%= config.bin %> envelopes remind env_123 --signer ada@example.com',
    '<%= config.bin %> envelopes list --status SENT --older-than 7d -q | <%= config.bin %> envelopes remind - --min-gap 24h --yes',
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
    const around = this.surroundings(flags);
    const ids = await readIds(argv.map(String), 'envelope id');
    const client = await around.client();
    if (flags['dry-run']) return writeDryRun(ids, 'remind', around);
    await confirmMany(ids.ids.length, 'Mail reminders for', flags, around);
    const { signer, 'min-gap': gapMs = 0 } = flags;
    await withReminderLog(around, { required: gapMs > 0 }, (log) =>
      forEachId(
        {
          ids,
          act: (id) => remindWithGap(client, log, { id, signer, gapMs }, around.signal),
          show: (envelope) => renderAction('Reminded', envelope, around.terminal),
        },
        around,
      ),
    );
  }
}
