import { EsignCommand } from '../../cli/command.ts';
import { listFlags } from '../../cli/flags.ts';
import { limited } from '../../cli/input/limit-flags.ts';
import { messageOf } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { writeList } from '../../output/print-list.ts';
import { summaries } from '../run-list.ts';
import { runList } from './preflight-text.ts';

export default class BulkList extends EsignCommand {
  static override summary = 'List the bulk runs on this machine, newest first.';
  static override examples = [
    '<%= config.bin %> bulk list',
    '<%= config.bin %> bulk list --json | jq \'.[] | select(.state == "interrupted")\'',
    '<%= config.bin %> bulk list -q -L 1',
  ];
  static override flags = listFlags;

  async run(): Promise<void> {
    const { flags, context } = await this.start(BulkList);
    const runs = summaries(runsDir(), (_, error) => context.terminal.notice(messageOf(error)));
    await writeList(
      limited.take(runs, flags, context),
      runList(context.session.clock.now()),
      flags,
      context.terminal,
    );
  }
}
