import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { formatFlags, latestRunArg } from '../../../cli/flags.ts';
import { readStates, showStatus } from './run.ts';

export default class BulkStatus extends EsignCommand {
  static override summary = 'Show who has signed, who is waiting, and what failed in a run.';
  static override description =
    "Prints one line for each signer, with the current state: signed, waiting (it is their turn), later (someone before them has not signed), declined, expired, cancelled, draft, failed (the row was refused), pending (not created yet), or replaced. Envelopes that can no longer change are not requested again. Runs from other machines are found by their envelopes' metadata.";
  static override examples = [
    '<%= config.bin %> bulk status',
    '<%= config.bin %> bulk status --last --only waiting',
    '<%= config.bin %> bulk status run-20261121-093012345-4f2a --csv > status.csv',
    '<%= config.bin %> bulk status --last --only failed --fields row,email,error.message',
    '<%= config.bin %> bulk status --last --only waiting -q | <%= config.bin %> envelopes remind - --min-gap 24h --yes',
  ];
  static override args = latestRunArg;
  static override flags = {
    last: Flags.boolean({ description: 'the latest run' }),
    only: Flags.string({ description: 'only signers in one of these states', helpValue: 'A,B' }),
    ...formatFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkStatus);
    const only = flags.only === undefined ? undefined : readStates(flags.only);
    await showStatus(args.run, { ...flags, only }, this.context(flags));
  }
}
