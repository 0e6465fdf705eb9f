import { EsignCommand } from '../../cli/command.ts';
import { listFlags } from '../../cli/flags.ts';
import { withLimit } from '../../cli/input/limit-flags.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { type ListView, writeList } from '../../output/print-list.ts';
import type { TableColumn } from '../../output/table.ts';
import type { RunHead } from '../../runs/journal-entries.ts';
import { type RunSummary, readRunSummaries, runHeads } from '../../runs/run-list.ts';
import { runStateColor } from './state-colors.ts';

export default class BulkList extends EsignCommand {
  static override summary = 'List the bulk runs of the account on this machine, newest first.';
  static override examples = [
    '<%= config.bin %> bulk list',
    '<%= config.bin %> bulk list --json | jq -c ".[] | {id, state, failed}"',
    '<%= config.bin %> bulk list -q -L 1',
  ];
  static override flags = listFlags;

  async run(): Promise<void> {
    const { flags, context } = await this.start(BulkList);
    const { session, terminal } = context;
    let isComplete = true;
    const skipped = (error: unknown) => {
      // Without the newest run, its ID would look like the latest one's.
      if (flags.quiet) throw error;
      isComplete = false;
      terminal.notice(messageOf(error));
    };
    const { baseUrl } = await session.settings();
    const { heads, others } = await runHeads(runsDir(), baseUrl?.value, skipped);
    const runs = readRunSummaries(runsDir(), heads, skipped);
    const isEmpty = heads.length === 0 && isComplete;
    const view = isEmpty ? { ...RUN_LIST, empty: NO_RUNS } : RUN_LIST;
    await writeList(withLimit.take(runs, flags, context), view, flags, terminal);
    if (others.length > 0) terminal.notice(othersInWords(others));
  }
}

const NO_RUNS = 'No runs yet. Start one: esign bulk create FILE --template ID --send';

/** Returns how many runs of other accounts are not shown, and the commands that list them. */
function othersInWords(others: readonly RunHead[]): string {
  const profiles = [...new Set(others.flatMap(({ profile }) => profile ?? []))];
  const commands = profiles.map((name) => `\`${command('bulk', 'list', '--profile', name)}\``);
  const list = commands.length > 0 ? ` List them with ${commands.slice(0, 3).join(' or ')}.` : '';
  return `${counted(others.length, 'run')} at other base URLs ${others.length === 1 ? 'is' : 'are'} not shown.${list}`;
}

const id: TableColumn<RunSummary> = { key: 'id', header: 'RUN', fixed: true };
const state: TableColumn<RunSummary> = { key: 'state', fixed: true, color: runStateColor };
const file: TableColumn<RunSummary> = { key: 'file', least: 12 };
const counts = (['done', 'failed', 'total'] as const).map(
  (key): TableColumn<RunSummary> => ({ key, show: (run) => grouped(run[key]), fixed: true }),
);

/** The list view of runs. */
export const RUN_LIST: ListView<RunSummary> = {
  id: (run) => run.id,
  columns: [id, state, ...counts, { key: 'createdAt', header: 'CREATED' }, file],
  // The ID contains the time.
  shown: [id, state, ...counts, file],
};
