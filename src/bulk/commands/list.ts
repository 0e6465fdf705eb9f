import { EsignCommand } from '../../cli/command.ts';
import { listFlags } from '../../cli/flags.ts';
import { limited } from '../../cli/input/limit-flags.ts';
import { grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { type ListView, writeList } from '../../output/print-list.ts';
import type { TableColumn } from '../../output/table.ts';
import { type RunSummary, summaries } from '../run-list.ts';
import { stateColor } from './status-screen.ts';

export default class BulkList extends EsignCommand {
  static override summary = 'List the bulk runs on this machine, newest first.';
  static override examples = [
    '<%= config.bin %> bulk list',
    '<%= config.bin %> bulk list --json | jq -c ".[] | {id, state, failed}"',
    '<%= config.bin %> bulk list -q -L 1',
  ];
  static override flags = listFlags;

  async run(): Promise<void> {
    const { flags, context } = await this.start(BulkList);
    const runs = summaries(runsDir(), (_, error) => context.terminal.notice(messageOf(error)));
    await writeList(limited.take(runs, flags, context), RUN_LIST, flags, context.terminal);
  }
}

const id: TableColumn<RunSummary> = { key: 'id', header: 'RUN', fixed: true };
const state: TableColumn<RunSummary> = { key: 'state', fixed: true, color: stateColor };
const file: TableColumn<RunSummary> = { key: 'file', least: 12 };
const counts = (['done', 'failed', 'total'] as const).map(
  (key): TableColumn<RunSummary> => ({ key, show: (run) => grouped(run[key]), fixed: true }),
);

/** The list view of the runs on this machine. */
export const RUN_LIST: ListView<RunSummary> = {
  id: (run) => run.id,
  empty: 'No runs yet. Start one: esign bulk create FILE --template ID --send',
  columns: [id, state, ...counts, { key: 'createdAt', header: 'CREATED' }, file],
  // The ID contains the time.
  shown: [id, state, ...counts, file],
};
