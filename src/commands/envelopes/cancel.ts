import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { writeDryRun } from '../../cli/dry-run.ts';
import { actionOnce } from '../../cli/envelopes/actions.ts';
import { confirmMany, forEachId } from '../../cli/envelopes/each.ts';
import { renderAction } from '../../cli/envelopes/view.ts';
import { dryRunFlag, yesFlag } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import { cancelEnvelope } from '../../envelopes/actions.ts';

export default class EnvelopesCancel extends EsignCommand {
  static override summary = 'Cancel envelopes that have not ended yet.';
  static override examples = [
    '<%= config.bin %> envelopes cancel env_123 --reason "wrong template"',
    '<%= config.bin %> envelopes cancel env_123 env_456 --yes',
    '<%= config.bin %> envelopes list --status SENT --older-than 30d --all -q | <%= config.bin %> envelopes cancel - --yes',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = {
    reason: Flags.string({ description: 'why, for the record', helpValue: 'TEXT' }),
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesCancel);
    const context = this.context(flags);
    const ids = await readIds(argv.map(String), 'envelope id');
    const client = await context.client();
    if (flags['dry-run']) return writeDryRun(ids, 'cancel', context);
    await confirmMany(ids.ids.length, 'Cancel', flags, context);
    await forEachId(
      {
        ids,
        act: (id) => cancelEnvelope(client, id, flags.reason, context.signal),
        show: (envelope) => renderAction('Cancelled', envelope, context.terminal),
        action: actionOnce('cancelled', ids),
      },
      context,
    );
  }
}
