import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, formatFlags } from '../../cli/flags.ts';
import { selectionFlags } from '../../cli/selection/flags.ts';
import { DEFAULT_PERCENTILE } from '../../statistics/defaults.ts';
import { showLate } from './run.ts';

export default class Late extends EsignCommand {
  static override summary = 'Show signers who are taking longer than usual, and what to do next.';
  static override description =
    'The usual time is taken from turns that finished in the last 180 days: first those for the same template and role, if there are at least 20, otherwise those for the template, and then those for the account. With less history, it is 7 days. A signer\'s turn begins when the envelope is sent, or when the previous signer has signed. "Opened" is unknown unless `esign listen` received the envelope\'s webhooks on this machine for the whole turn.';
  static override examples = [
    '<%= config.bin %> late',
    '<%= config.bin %> late --template tmpl_lease --after 3d',
    '<%= config.bin %> late -q | <%= config.bin %> envelopes remind -',
    '<%= config.bin %> late --json | jq -r .[].next',
  ];
  static override flags = {
    ...selectionFlags,
    percentile: Flags.integer({
      description: `percentile of finished turns after which a signer is late (default ${DEFAULT_PERCENTILE})`,
      helpValue: 'N',
      min: 1,
      max: 100,
      exclusive: ['after'],
    }),
    after: durationFlag({
      description: 'time after which a signer is late, instead of the usual time',
      helpValue: '7d',
    }),
    ...formatFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Late);
    await showLate(flags, this.context(flags));
  }
}
