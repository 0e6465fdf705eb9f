import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { dryRunFlag, yesFlag } from '../../../cli/flags.ts';
import { undoEntry } from './run.ts';

export default class LogUndo extends EsignCommand {
  static override summary = 'Cancel the envelopes that a log entry created or sent.';
  static override description =
    "Shows the envelopes and who has signed, asks for confirmation, and cancels them. Completed envelopes are not changed. Emails can't be taken back.";
  static override examples = [
    '<%= config.bin %> log undo log_0123456789ab',
    '<%= config.bin %> log undo log_0123456789ab --reason "wrong list" --yes',
    '<%= config.bin %> log undo log_0123456789ab --dry-run',
  ];
  static override args = {
    id: Args.string({ description: 'entry ID, from `esign log`', required: true, ignoreStdin: true }),
  };
  static override flags = {
    reason: Flags.string({ description: 'reason, stored with the envelopes', helpValue: 'TEXT' }),
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(LogUndo);
    await undoEntry(args.id, flags, this.context(flags));
  }
}
