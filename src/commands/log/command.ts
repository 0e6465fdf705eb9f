import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { formatFlags, inGroup, sinceFlag } from '../../cli/flags.ts';
import { counted } from '../../kernel/duration.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { logFolder } from '../../log/files.ts';
import { writeList } from '../../output/list.ts';
import { entriesOf } from './entries.ts';
import { logList } from './view.ts';

export default class Log extends EsignCommand {
  static override summary = 'List every write made from this machine, oldest first.';
  static override description =
    "An entry is stored before each write is sent, and completed when the outcome is known. If the entry can't be stored, nothing is sent. Requests refused by a guard are also listed. Entries contain no secrets, subjects, messages, or addresses. A bulk run is one entry.";
  static override examples = [
    '<%= config.bin %> log --since 1d',
    '<%= config.bin %> log --envelope env_123 --json',
    '<%= config.bin %> log --json | jq \'.[] | select(.outcome == "unknown")\'',
  ];
  static override flags = {
    ...formatFlags,
    ...inGroup('FILTER', {
      since: sinceFlag({ description: 'only entries since this time', helpValue: '7d|DATE' }),
      envelope: Flags.string({ description: 'only entries for this envelope', helpValue: 'ID' }),
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Log);
    const { terminal, session } = this.context(flags);
    const filter = { since: flags.since?.(session.clock.now()), envelopeId: flags.envelope };
    const { entries, damaged } = await entriesOf(logFolder(stateDir()), filter);
    if (damaged > 0)
      terminal.notice(
        `${counted(damaged, 'line')} in the log can't be read. To check the log, run \`esign log verify\`.`,
      );
    await writeList(entries, logList(session.clock.now()), flags, terminal);
  }
}
