import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { formatFlags } from '../../../cli/flags.ts';
import { getEnvelopes } from './run.ts';

export default class EnvelopesGet extends EsignCommand {
  static override summary = 'Show an envelope: status, signers, dates, and files.';
  static override examples = [
    '<%= config.bin %> envelopes get env_123',
    '<%= config.bin %> envelopes get env_123 --history',
    '<%= config.bin %> envelopes get env_123 --json | jq -r .status',
    '<%= config.bin %> envelopes get env_123 --fields status,signers.0.email',
    '<%= config.bin %> envelopes list --all -q | <%= config.bin %> envelopes get - --json',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'envelope IDs, or `-` to read them from stdin', ignoreStdin: true }),
  };
  static override flags = {
    csv: formatFlags.csv,
    fields: Flags.string({
      description: 'columns to print, such as status,signers.0.email',
      helpGroup: 'OUTPUT',
      helpValue: 'A,B',
      exclusive: ['json'],
    }),
    quiet: formatFlags.quiet,
    history: Flags.boolean({
      description: 'also show its history, including the webhooks that `listen` received on this machine',
    }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesGet);
    await getEnvelopes(argv.map(String), flags, this.context(flags));
  }
}
