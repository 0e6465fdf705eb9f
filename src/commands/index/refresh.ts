import { EsignCommand } from '../../cli/command.ts';
import { fromIndex } from '../../cli/selection/search.ts';
import { UsageError } from '../../kernel/errors.ts';
import { showIndex } from './show.ts';

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
    const { context } = await this.start(IndexRefresh);
    const refuse = (why: string, error: unknown) => {
      throw new UsageError(`${why}.`, {
        cause: error,
        hint: 'Free up disk space, or set ESIGN_STATE_DIR to a writable folder. Searches also work without the index.',
      });
    };
    await fromIndex((index, running) => index.refreshAll({}, running), context, refuse);
    await showIndex(context);
  }
}
