import { idsOrRun, runFlag } from '../../catalog/commands/selection-flags.ts';
import { EsignCommand } from '../../cli/command.ts';
import { confirmFlag, dryRunFlag, missingRolesFlag, yesFlag } from '../../cli/flags.ts';
import { notToSend } from '../left-out.ts';
import { sendAction } from '../plan-writes.ts';
import { type ActCommand, act } from './act-on-envelopes.ts';

export default class EnvelopesSend extends EsignCommand {
  static override summary = 'Send drafts to their signers.';
  static override examples = [
    '<%= config.bin %> envelopes send env_123',
    '<%= config.bin %> envelopes send env_123 env_456 --yes',
    '<%= config.bin %> envelopes list --status DRAFT --all -q | <%= config.bin %> envelopes send - --yes',
    '<%= config.bin %> envelopes send --run last',
  ];
  static override strict = false;
  static override args = idsOrRun;
  static override flags = {
    'allow-missing-roles': missingRolesFlag,
    ...runFlag,
    yes: yesFlag,
    confirm: confirmFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesSend);
    const command: ActCommand = {
      words: argv.map(String),
      flags,
      selection: { leaveOut: notToSend },
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
