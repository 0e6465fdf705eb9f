import { EsignCommand } from '../../cli/command.ts';
import { confirmFlag, dryRunFlag, missingRolesFlag, yesFlag } from '../../cli/flags.ts';
import { idsOrRun, runFlag } from '../../selection/selection-flags.ts';
import { notToSend } from '../left-out.ts';
import { sendAction } from '../plan-writes.ts';
import { confirmPlans } from './actions/confirm-plans.ts';
import { executePlans } from './actions/execute-plans.ts';
import { readNamedOrSelected } from './actions/named-or-selected.ts';
import { actionContext, planEach } from './actions/plan-each.ts';
import { showDryRun } from './actions/show-dry-run.ts';

export const sendFlags = {
  'allow-missing-roles': missingRolesFlag,
  ...runFlag,
  yes: yesFlag,
  confirm: confirmFlag,
  'dry-run': dryRunFlag,
};

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
  static override flags = sendFlags;

  async run(): Promise<void> {
    const { argv, flags, context } = await this.start(EnvelopesSend);
    const narrowing = { leaveOut: notToSend, own: true };
    const targets = await readNamedOrSelected(argv.map(String), flags, narrowing, context);
    const allowMissing = flags['allow-missing-roles'];
    const action = sendAction(await actionContext(context), { allowMissing });
    const plans = await planEach(action, targets);
    if (flags['dry-run']) return showDryRun(action, plans, { ...targets, ...flags }, context);
    const confirmed = await confirmPlans(action, plans, { ...targets, ...flags }, context);
    await executePlans(action, confirmed, targets, context);
  }
}
