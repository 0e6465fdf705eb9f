import { summaries } from '../../bulk/history.ts';
import { runsFolder } from '../../cli/bulk-preparing.ts';
import { EsignCommand } from '../../cli/command.ts';
import { listFlags } from '../../cli/flags.ts';
import { limited } from '../../cli/limited.ts';
import { messageOf } from '../../kernel/errors.ts';
import { runList } from '../../output/bulk-view.ts';
import { writeList } from '../../output/list.ts';

export default class BulkList extends EsignCommand {
  static override summary = 'List the bulk runs of this machine, the latest first.';
  static override examples = [
    '<%= config.bin %> bulk list',
    '<%= config.bin %> bulk list --json | jq \'.[] | select(.state == "interrupted")\'',
    '<%= config.bin %> bulk list -q -L 1',
  ];
  static override flags = listFlags;

  async run(): Promise<void> {
    const { flags } = await this.parse(BulkList);
    const around = this.surroundings(flags);
    const runs = summaries(runsFolder(), (_, error) => around.notice(messageOf(error)));
    await writeList(limited.take(runs, flags, around), runList(around.clock.now()), flags, around.terminal);
  }
}
