import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { getEnvelopes } from '../../cli/envelopes/get.ts';
import { formatFlags } from '../../cli/flags.ts';

export default class EnvelopesGet extends EsignCommand {
  static override summary = 'Show where an envelope stands: status, signers, dates, files.';
  static override examples = [
    '<%= config.bin %> envelopes get env_123',
    '<%= config.bin %> envelopes get env_123 --history',
    '<%= config.bin %> envelopes get env_123 --json | jq -r .status',
    '<%= config.bin %> envelopes get env_123 --fields status,signers.0.email',
    '<%= config.bin %> envelopes list --all -q | <%= config.bin %> envelopes get - --json',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
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
      description: 'also what `listen` received for it on this machine, event by event',
    }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesGet);
    await getEnvelopes(argv.map(String), flags, this.context(flags));
  }
}
