import { EsignCommand } from '../../cli/command.ts';
import { quietFlag, sinceFlag, textFlag } from '../../cli/flags.ts';
import { counted } from '../../kernel/duration.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { logFolder } from '../../log/log-folder.ts';
import type { LogEntry } from '../../log/shown-entry.ts';
import { type ListView, writeList } from '../../output/print-list.ts';
import { relativeTime } from '../../output/time.ts';
import { readEntries } from './read-entries.ts';

export default class Log extends EsignCommand {
  static override summary = 'List every write made from this machine, oldest first.';
  static override description =
    "An entry is stored before each write is sent, and completed when the outcome is known. If the entry can't be stored, nothing is sent. Requests refused by a guard are also listed. Entries contain no secrets, subjects, messages, or addresses. Why an envelope was canceled is kept without addresses. A bulk run is one entry.";
  static override examples = [
    '<%= config.bin %> log --since 1d',
    '<%= config.bin %> log --envelope env_123 --json',
    '<%= config.bin %> log --since 30d --json | jq -r ".[] | [.at, .command, .outcome] | @tsv"',
  ];
  static override flags = {
    quiet: quietFlag('IDs'),
    since: sinceFlag({ description: 'only entries since this time', helpValue: '7d|DATE' }),
    envelope: textFlag('ID', 'only entries for this envelope'),
  };

  async run(): Promise<void> {
    const { flags, terminal, session } = await this.start(Log);
    const filter = { since: flags.since?.(session.clock.now()), envelopeId: flags.envelope };
    const entries = await readEntries(logFolder(stateDir()), filter);
    await writeList(entries, logList(session.clock.now()), flags, terminal);
  }
}

/** Enough for `unknown: TIMEOUT`. */
const OUTCOME_WIDTH = 16;

export function logList(now: number): ListView<LogEntry> {
  return {
    id: ({ id }) => id,
    empty: 'No log entries found.',
    columns: [
      { key: 'id', fixed: true },
      { key: 'at', fixed: true },
      { key: 'user' },
      { key: 'profile' },
      { key: 'baseUrl', header: 'BASE URL' },
      { key: 'command' },
      { key: 'effect' },
      { key: 'envelopeIds', header: 'ENVELOPES', value: ({ envelopeIds }) => envelopeIds.join(' ') },
      { key: 'requestId', header: 'REQUEST ID' },
      { key: 'outcome' },
      { key: 'error' },
      { key: 'reason', value: ({ reason = '' }) => reason },
    ],
    shown: [
      { key: 'at', header: 'WHEN', value: ({ at }) => relativeTime(at, now), fixed: true },
      { key: 'command', fixed: true },
      {
        key: 'outcome',
        value: outcomeOf,
        wraps: true,
        least: OUTCOME_WIDTH,
      },
      { key: 'envelopeIds', header: 'ENVELOPES', value: envelopesOf, fixed: true },
      { key: 'profile', extra: true },
      { key: 'user', extra: true },
    ],
  };
}

function outcomeOf({ outcome, error, reason }: LogEntry): string {
  const why = error ?? reason;
  return why === undefined ? outcome : `${outcome}: ${why}`;
}

function envelopesOf({ envelopeIds }: LogEntry): string {
  return envelopeIds.length > 1 ? counted(envelopeIds.length, 'envelope') : (envelopeIds[0] ?? '');
}
