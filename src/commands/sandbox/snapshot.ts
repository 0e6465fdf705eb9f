import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { formatFlags } from '../../cli/flags.ts';
import { runSnapshot, SNAPSHOT_ACTIONS } from '../../cli/sandbox/snapshot.ts';

export default class SandboxSnapshot extends EsignCommand {
  static override summary = 'Keep the state of the sandbox under a name, and go back to it.';
  static override description =
    'save keeps envelopes, mails, keys, papers and the clock, in the place of an earlier one of that name; load goes back to it, and what happened since is gone. Snapshots lie in the folder of the sandbox and go with it.';
  static override examples = [
    '<%= config.bin %> sandbox snapshot save before',
    '<%= config.bin %> sandbox snapshot load before',
    '<%= config.bin %> sandbox snapshot list --json',
    '<%= config.bin %> sandbox snapshot remove before',
  ];
  static override args = {
    action: Args.string({
      description: 'save, load, list or remove',
      options: [...SNAPSHOT_ACTIONS],
      required: true,
      ignoreStdin: true,
    }),
    name: Args.string({ description: 'name of the snapshot', ignoreStdin: true }),
  };
  static override flags = formatFlags;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SandboxSnapshot);
    await runSnapshot(args, flags, this.context(flags));
  }
}
