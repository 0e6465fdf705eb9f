import { endRunNamed } from '../../bulk/commands/selected-run.ts';
import { idsOrRun, runFlag } from '../../catalog/commands/selection-flags.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, dryRunFlag, textFlag, yesFlag } from '../../cli/flags.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { notToCancel } from '../left-out.ts';
import { cancelAction } from '../plan-writes.ts';
import { type ActCommand, act } from './act-on-envelopes.ts';

export default class EnvelopesCancel extends EsignCommand {
  static override summary = 'Cancel envelopes that are not finished yet.';
  static override examples = [
    '<%= config.bin %> envelopes cancel env_123 --reason "wrong template"',
    '<%= config.bin %> envelopes cancel env_123 env_456 --yes',
    '<%= config.bin %> envelopes list --status SENT --older-than 30d --all -q | <%= config.bin %> envelopes cancel - --yes',
    '<%= config.bin %> envelopes cancel --run last --reason "wrong template"',
  ];
  static override strict = false;
  static override args = idsOrRun;
  static override flags = {
    reason: textFlag('TEXT', 'reason, stored with the envelope'),
    'even-if-declined': booleanFlag('also cancel DECLINED envelopes, which then no longer show as declined', {
      default: false,
    }),
    ...runFlag,
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesCancel);
    const { reason, run, 'even-if-declined': evenIfDeclined } = flags;
    const command: ActCommand = {
      words: argv.map(String),
      flags,
      selection: { leaveOut: (envelopes) => notToCancel(envelopes, evenIfDeclined) },
      actionOf: (means) => cancelAction(means, { reason, evenIfDeclined, yes: flags.yes }),
      confirming: {
        yes: flags.yes,
        question: 'Cancel it anyway?',
        otherwise: 'nothing was changed',
        refusal: (text) =>
          new ServiceError('INVALID_STATE', text, {
            status: 400,
            hint: 'Nothing was changed. Add --even-if-declined to cancel it anyway.',
          }),
      },
    };
    if (run !== undefined) command.before = (context) => endRunNamed(run, context);
    await act(command, this.context(flags));
  }
}
