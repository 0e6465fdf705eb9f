import * as Flags from '@oclif/core/flags';
import type { Envelope } from '../../api/schemas.ts';
import { EsignCommand } from '../../cli/command.ts';
import { selectionFlags, selectionOf } from '../../cli/envelopes/select-flags.ts';
import { envelopeList } from '../../cli/envelopes/view.ts';
import { listFlags } from '../../cli/flags.ts';
import { limited } from '../../cli/input/limit.ts';
import { isUnfiltered, selectEnvelopes, sortEnvelopes } from '../../envelopes/select.ts';
import { writeList } from '../../output/list.ts';

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
    const context = this.context(flags);
    const client = await context.client();
    const now = context.clock.now();
    const selection = selectionOf(flags);
    const whole = flags.sort !== undefined;
    const found = selectEnvelopes(client, selection, {
      needsSigners: !flags.quiet && !flags.json && (flags.fields?.includes('signers') ?? true),
      pageSize: limited.pageSize(flags, isUnfiltered(selection) && !whole),
      signal: context.signal,
    });
    const envelopes = flags.sort === undefined ? found : sortEnvelopes(found, flags.sort);
    await writeList<Envelope>(
      limited.take(envelopes, flags, context),
      envelopeList(now),
      flags,
      context.terminal,
    );
  }
}
