import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { confirmMany, forEachId, writeDryRun } from '../../cli/each.ts';
import { dryRunFlag, yesFlag } from '../../cli/flags.ts';
import { readIds } from '../../cli/ids.ts';
import { sendEnvelope } from '../../envelopes/actions.ts';
import { renderAction } from '../../output/envelope-view.ts';

export default class EnvelopesSend extends EsignCommand {
  static override summary = 'Send drafts to their signers.';
  static override examples = [
    '<%= config.bin %> envelopes send env_123',
    '<%= config.bin %> envelopes send env_123 env_456 --yes',
    '<%= config.bin %> envelopes list --status DRAFT -q | <%= config.bin %> envelopes send - --yes',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = { yes: yesFlag, 'dry-run': dryRunFlag };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesSend);
    const around = this.surroundings(flags);
    const ids = await readIds(argv.map(String), 'envelope id');
    const client = await around.client();
    if (flags['dry-run']) return writeDryRun(ids, 'send', around);
    await confirmMany(ids.ids.length, 'Send', flags, around);
    await forEachId(
      {
        ids,
        act: (id) => sendEnvelope(client, id, around.signal),
        show: (envelope) => renderAction('Sent', envelope, around.terminal),
      },
      around,
    );
  }
}
