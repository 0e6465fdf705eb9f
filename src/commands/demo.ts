import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../cli/command.ts';
import { showDemo } from '../cli/demo/run.ts';

export default class Demo extends EsignCommand {
  static override summary = 'Show it all in one go: sandbox, webhooks, create, sign, watch, download.';
  static override description =
    'Runs in a folder of its own, needs no account and touches none of your profiles. The signed papers are left there for you to open.';
  static override examples = [
    '<%= config.bin %> demo',
    '<%= config.bin %> demo --dir ./demo',
    '<%= config.bin %> demo --json',
  ];
  static override flags = {
    dir: Flags.string({
      description: 'folder for the papers (default: a new temporary one)',
      helpValue: 'DIR',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Demo);
    await showDemo(flags.dir, this.context(flags));
  }
}
