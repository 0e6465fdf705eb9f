import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { dryRunFlag } from '../../cli/flags.ts';
import { clearIndex } from '../../cli/index/index-files.ts';

export default class IndexClear extends EsignCommand {
  static override summary = 'Remove what is known here; the next search reads it again.';
  static override examples = [
    '<%= config.bin %> index clear',
    '<%= config.bin %> index clear --all --dry-run',
    '<%= config.bin %> index clear --all --json',
  ];
  static override flags = {
    all: Flags.boolean({ description: 'of all profiles, also of those that are gone', default: false }),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(IndexClear);
    await clearIndex({ all: flags.all, 'dry-run': flags['dry-run'] }, this.context(flags));
  }
}
