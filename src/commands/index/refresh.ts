import { EsignCommand } from '../../cli/command.ts';
import { refreshIndex } from './index-files.ts';

export default class IndexRefresh extends EsignCommand {
  static override summary = 'Update the local index.';
  static override description =
    'Reads new envelopes and rechecks the ones that can still change. Searches do this automatically. The first time, every envelope is read; an interrupted refresh continues where it stopped. 10% of the rate limit is left for your other systems.';
  static override examples = [
    '<%= config.bin %> index refresh',
    '<%= config.bin %> index refresh --json | jq .envelopes',
    '<%= config.bin %> index refresh --profile acme',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(IndexRefresh);
    await refreshIndex(this.context(flags));
  }
}
