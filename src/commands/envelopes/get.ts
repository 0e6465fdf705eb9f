import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { forEachId } from '../../cli/each.ts';
import { readIds } from '../../cli/ids.ts';
import { renderEnvelope } from '../../output/envelope-view.ts';

export default class EnvelopesGet extends EsignCommand {
  static override summary = 'Show where an envelope stands: status, signers, dates, files.';
  static override examples = [
    '<%= config.bin %> envelopes get env_123',
    '<%= config.bin %> envelopes get env_123 --json | jq -r .status',
    '<%= config.bin %> envelopes list -q | <%= config.bin %> envelopes get - --json',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesGet);
    const around = this.surroundings(flags);
    const ids = await readIds(argv.map(String), 'envelope id');
    const client = await around.client();
    await forEachId(
      {
        ids,
        act: async (id) => ({ envelope: await client.envelopes.get(id, around.signal) }),
        show: (envelope) => renderEnvelope(envelope, around.terminal, around.clock.now()),
      },
      around,
    );
  }
}
