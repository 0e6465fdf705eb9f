import { EsignCommand } from '../../cli/command.ts';
import { refreshIndex } from '../../cli/index/index-files.ts';

export default class IndexRefresh extends EsignCommand {
  static override summary = 'Read from the service what is new and what can have changed.';
  static override description =
    'Searches do this themselves, as far as they need it. The first time reads every envelope; what is interrupted is gone on with. A tenth of the rate window is left to your other systems.';
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
