import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { forEachId } from '../../cli/envelopes/each.ts';
import { Histories } from '../../cli/envelopes/history.ts';
import { renderEnvelope } from '../../cli/envelopes/view.ts';
import { readIds } from '../../cli/input/ids.ts';

export default class EnvelopesGet extends EsignCommand {
  static override summary = 'Show where an envelope stands: status, signers, dates, files.';
  static override examples = [
    '<%= config.bin %> envelopes get env_123',
    '<%= config.bin %> envelopes get env_123 --history',
    '<%= config.bin %> envelopes get env_123 --json | jq -r .status',
    '<%= config.bin %> envelopes list --all -q | <%= config.bin %> envelopes get - --json',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = {
    history: Flags.boolean({
      description: 'also what `listen` received for it on this machine, event by event',
    }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesGet);
    const context = this.context(flags);
    const ids = await readIds(argv.map(String), 'envelope id');
    const client = await context.client();
    const history = flags.history ? new Histories(ids.ids) : undefined;
    await forEachId(
      {
        ids,
        act: async (id) => {
          const envelope = await client.envelopes.get(id, context.signal);
          return { envelope: (await history?.addedTo(envelope)) ?? envelope };
        },
        show: (envelope) => {
          const shown = renderEnvelope(envelope, context.terminal, context.now());
          return `${shown}${history?.render(envelope, context) ?? ''}`;
        },
      },
      context,
    );
  }
}
