import { EsignCommand } from '../../cli/command.ts';
import { counted } from '../../kernel/duration.ts';
import { VerificationError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { logFolder } from '../../log/files.ts';
import { type Break, verifyLog } from '../../log/read-log.ts';
import { writeJson } from '../../output/json.ts';

export default class LogVerify extends EsignCommand {
  static override summary = 'Check that the log is complete and unchanged.';
  static override description =
    'Each line contains the SHA-256 of the line before it, and the last hash is stored next to the log. If a line was changed, removed, or added, the command shows the entry where the chain breaks and exits with 9.';
  static override examples = [
    '<%= config.bin %> log verify',
    '<%= config.bin %> log verify --json',
    '<%= config.bin %> log verify || echo "The log was changed."',
  ];

  async run(): Promise<void> {
    const { terminal } = await this.start(LogVerify);
    const { files, entries, break: found } = await verifyLog(logFolder(stateDir()));
    if (found !== undefined) throw broken(found);
    if (terminal.json) return writeJson({ ok: true, entries, files }, terminal);
    await terminal.out(`The log is complete: ${counted(entries, 'entry').replace(/ys$/, 'ies')}.\n`);
  }
}

const REASONS: Readonly<Record<Break['reason'], string>> = {
  changed: 'the line was changed',
  'not chained': 'it does not follow from the entry before it',
  'missing file': 'the file before this one is missing',
  shortened: 'later entries are missing',
};

function broken({ file, line, id, after, reason }: Break): VerificationError {
  const where = id === undefined ? '' : ` at ${id}`;
  const previous = after === undefined ? '' : `, after ${after}`;
  return new VerificationError(
    `The log is broken${where}${previous}: ${REASONS[reason]} (${file}, line ${line}).`,
    {
      hint: "Entries before it are intact. Compare the log with a backup or with the service's audit log.",
    },
  );
}
