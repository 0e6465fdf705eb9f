import { EsignCommand } from '../../cli/command.ts';
import { showIndex } from './index-files.ts';

export default class IndexShow extends EsignCommand {
  static override summary = 'Show the local index: its size, location, and age.';
  static override examples = [
    '<%= config.bin %> index show',
    '<%= config.bin %> index show --json',
    '<%= config.bin %> index show --profile acme',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(IndexShow);
    await showIndex(this.context(flags));
  }
}
