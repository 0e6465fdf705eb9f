import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { writeDryRun } from '../../cli/dry-run.ts';
import { actionOnce } from '../../cli/envelopes/actions.ts';
import { confirmMany, forEachId } from '../../cli/envelopes/each.ts';
import { renderAction } from '../../cli/envelopes/view.ts';
import { dryRunFlag, yesFlag } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import { sendEnvelope } from '../../envelopes/actions.ts';

export default class EnvelopesSend extends EsignCommand {
  static override summary = 'Send drafts to their signers.';
  static override examples = [
    '<%= config.bin %> envelopes send env_123',
    '<%= config.bin %> envelopes send env_123 env_456 --yes',
    '<%= config.bin %> envelopes list --status DRAFT --all -q | <%= config.bin %> envelopes send - --yes',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = { yes: yesFlag, 'dry-run': dryRunFlag };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesSend);
    const context = this.context(flags);
    const ids = await readIds(argv.map(String), 'envelope id');
    const client = await context.client();
    if (flags['dry-run']) return writeDryRun(ids, 'send', context);
    await confirmMany(ids.ids.length, 'Send', flags, context);
    await forEachId(
      {
        ids,
        act: (id) => sendEnvelope(client, id, context.signal),
        show: (envelope) => renderAction('Sent', envelope, context.terminal),
        action: actionOnce('sent', ids),
      },
      context,
    );
  }
}
