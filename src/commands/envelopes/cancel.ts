import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { cancelEnvelopes } from '../../cli/envelopes/act.ts';
import { dryRunFlag, yesFlag } from '../../cli/flags.ts';

export default class EnvelopesCancel extends EsignCommand {
  static override summary = 'Cancel envelopes that have not ended yet.';
  static override examples = [
    '<%= config.bin %> envelopes cancel env_123 --reason "wrong template"',
    '<%= config.bin %> envelopes cancel env_123 env_456 --yes',
    '<%= config.bin %> envelopes list --status SENT --older-than 30d --all -q | <%= config.bin %> envelopes cancel - --yes',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = {
    reason: Flags.string({ description: 'why, for the record', helpValue: 'TEXT' }),
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesCancel);
    await cancelEnvelopes(argv.map(String), flags, this.context(flags));
  }
}
