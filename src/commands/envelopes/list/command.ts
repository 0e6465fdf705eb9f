import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { listFlags } from '../../../cli/flags.ts';
import { selectionFlags, selectionOf } from '../../../cli/selection/flags.ts';
import { listEnvelopes } from './run.ts';

export default class EnvelopesList extends EsignCommand {
  static override summary = 'List envelopes, filtered by status, template, signer, text, or date.';
  static override examples = [
    '<%= config.bin %> envelopes list',
    '<%= config.bin %> envelopes list --status SENT,IN_PROGRESS --older-than 7d',
    '<%= config.bin %> envelopes list --signer ada@example.com --all --csv',
    '<%= config.bin %> envelopes list --status COMPLETED --since 30d -q',
    '<%= config.bin %> envelopes list --run last --metadata deal=4711',
  ];
  static override flags = {
    ...listFlags,
    ...selectionFlags,
    sort: Flags.string({
      description: 'field to sort by; `-FIELD` for descending order',
      helpValue: 'FIELD',
      helpGroup: 'OUTPUT',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EnvelopesList);
    const context = this.context(flags);
    await listEnvelopes(await selectionOf(flags, context), flags, context);
  }
}
