import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { listEnvelopes } from '../../cli/envelopes/list.ts';
import { selectionFlags, selectionOf } from '../../cli/envelopes/select-flags.ts';
import { listFlags } from '../../cli/flags.ts';

export default class EnvelopesList extends EsignCommand {
  static override summary = 'List envelopes, filtered by status, template, signer, text or time.';
  static override examples = [
    '<%= config.bin %> envelopes list',
    '<%= config.bin %> envelopes list --status SENT,IN_PROGRESS --older-than 7d',
    '<%= config.bin %> envelopes list --signer ada@example.com --all --csv',
    '<%= config.bin %> envelopes list --status COMPLETED --since 30d -q',
  ];
  static override flags = {
    ...listFlags,
    ...selectionFlags,
    sort: Flags.string({
      description: 'sort by this field; -FIELD for descending',
      helpValue: 'FIELD',
      helpGroup: 'OUTPUT',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EnvelopesList);
    await listEnvelopes(selectionOf(flags), flags, this.context(flags));
  }
}
