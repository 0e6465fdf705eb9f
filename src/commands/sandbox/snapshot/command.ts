import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../../cli/command.ts';
import { formatFlags } from '../../../cli/flags.ts';
import { runSnapshot, SNAPSHOT_ACTIONS } from './run.ts';

export default class SandboxSnapshot extends EsignCommand {
  static override summary = "Save the sandbox's state as a snapshot, and restore it later.";
  static override description =
    "save stores envelopes, emails, keys, documents, and the clock, and replaces any snapshot with the same name. load restores it and discards everything since then. Snapshots are stored in the sandbox's folder and deleted with it.";
  static override examples = [
    '<%= config.bin %> sandbox snapshot save before',
    '<%= config.bin %> sandbox snapshot load before',
    '<%= config.bin %> sandbox snapshot list --json',
    '<%= config.bin %> sandbox snapshot remove before',
  ];
  static override args = {
    action: Args.string({
      description: 'action to perform',
      options: [...SNAPSHOT_ACTIONS],
      required: true,
      ignoreStdin: true,
    }),
    name: Args.string({ description: 'snapshot name', ignoreStdin: true }),
  };
  static override flags = formatFlags;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SandboxSnapshot);
    await runSnapshot(args, flags, this.context(flags));
  }
}
