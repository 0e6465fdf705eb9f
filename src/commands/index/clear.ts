import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { dryRunFlag } from '../../cli/flags.ts';
import { clearIndex } from './index-files.ts';

export default class IndexClear extends EsignCommand {
  static override summary = 'Delete the local index. The next search rebuilds it.';
  static override examples = [
    '<%= config.bin %> index clear',
    '<%= config.bin %> index clear --all --dry-run',
    '<%= config.bin %> index clear --all --json',
  ];
  static override flags = {
    all: Flags.boolean({
      description: 'delete the indexes for all profiles, including removed ones',
      default: false,
    }),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(IndexClear);
    await clearIndex({ all: flags.all, 'dry-run': flags['dry-run'] }, this.context(flags));
  }
}
