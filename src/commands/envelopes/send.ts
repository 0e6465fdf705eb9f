import { EsignCommand } from '../../cli/command.ts';
import { confirmFlag, dryRunFlag, missingRolesFlag, yesFlag } from '../../cli/flags.ts';
import { idsOrFilters, selectionFlags } from '../../cli/selection/flags.ts';
import { notToSend } from '../../envelopes/left-out.ts';
import { sendAction } from '../../envelopes/plan.ts';
import { type ActCommand, act } from './act.ts';

export default class EnvelopesSend extends EsignCommand {
  static override summary = 'Send drafts to their signers.';
  static override examples = [
    '<%= config.bin %> envelopes send env_123',
    '<%= config.bin %> envelopes send env_123 env_456 --yes',
    '<%= config.bin %> envelopes list --status DRAFT --all -q | <%= config.bin %> envelopes send - --yes',
    '<%= config.bin %> envelopes send --run last',
  ];
  static override strict = false;
  static override args = idsOrFilters;
  static override flags = {
    'allow-missing-roles': missingRolesFlag,
    ...selectionFlags,
    yes: yesFlag,
    confirm: confirmFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesSend);
    const command: ActCommand = {
      words: argv.map(String),
      flags,
      // The sent envelopes of a run show which drafts are duplicates.
      query: flags.run === undefined ? flags : { ...flags, status: undefined },
      leaveOut: (envelopes) => notToSend(envelopes, flags.status),
      actionOf: sendAction,
      confirming: {
        allowMissing: flags['allow-missing-roles'],
        question: 'Send it anyway?',
        otherwise: 'nothing was sent',
      },
      checksDryRun: true,
    };
    await act(command, this.context(flags));
  }
}
