import type { Envelope } from '../../api/resource-types.ts';
import { completeItems } from '../../catalog/envelope-list.ts';
import { EsignCommand } from '../../cli/command.ts';
import { exportListFlags } from '../../cli/flags.ts';
import { withLimit } from '../../cli/input/limit-flags.ts';
import { outputTable } from '../../cli/output-table.ts';
import { listsSigners } from '../../kernel/statuses.ts';
import { writeList } from '../../output/print-list.ts';
import { readSelected } from '../../selection/select-envelopes.ts';
import { selectionFlags, selectionFromFlags } from '../../selection/selection-flags.ts';
import { envelopeList } from './envelope-table.ts';

export const envelopesListFlags = {
  ...exportListFlags,
  ...selectionFlags,
};

export default class EnvelopesList extends EsignCommand {
  static override summary = 'List envelopes, filtered by status, template, signer, metadata, or date.';
  static override examples = [
    '<%= config.bin %> envelopes list',
    '<%= config.bin %> envelopes list --status open --older-than 7d',
    '<%= config.bin %> envelopes list --signer ada@example.com --all --csv',
    '<%= config.bin %> envelopes list --status COMPLETED --since 30d -q',
    '<%= config.bin %> envelopes list --run last --metadata deal=4711',
  ];
  static override flags = envelopesListFlags;

  async run(): Promise<void> {
    const { flags, context, terminal } = await this.start(EnvelopesList);
    const table = outputTable(flags, terminal);
    const selection = await selectionFromFlags(flags, context);
    const found = await readSelected(selection, context, flags);
    const taken = withLimit.take(found.envelopes, flags, context, found.total);
    const needsSigners = !flags.quiet && !terminal.json && (flags.fields?.includes('signers') ?? true);
    const shown = needsSigners
      ? completeItems(await context.session.client(), taken, listsSigners, context.interrupt.signal)
      : taken;
    await writeList<Envelope>(
      shown,
      envelopeList(() => context.session.now(), { selection, flags }),
      { ...flags, table },
      terminal.hidingSecrets(),
    );
    if (found.hasMore()) withLimit.notice(flags, context, found.total());
  }
}
