import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { remindSigners } from '../../cli/envelopes/act.ts';
import { dryRunFlag, durationFlag, yesFlag } from '../../cli/flags.ts';

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
    await remindSigners(argv.map(String), flags, this.context(flags));
  }
}
