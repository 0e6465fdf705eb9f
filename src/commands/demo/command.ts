import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { showDemo } from './run.ts';

export default class Demo extends EsignCommand {
  static override summary = 'Run an end-to-end demo: sandbox, webhooks, create, sign, watch, download.';
  static override description =
    'Runs in its own folder, needs no account, and changes none of your profiles. The signed documents stay in the folder for you to open.';
  static override examples = [
    '<%= config.bin %> demo',
    '<%= config.bin %> demo --dir ./demo',
    '<%= config.bin %> demo --json',
  ];
  static override flags = {
    dir: Flags.string({
      description: 'folder for the documents (default: a new temporary folder)',
      helpValue: 'DIR',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Demo);
    await showDemo(flags.dir, this.context(flags));
  }
}
