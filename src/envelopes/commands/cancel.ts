import type { InferredFlags } from '@oclif/core/interfaces';
import type { Envelope } from '../../api/resource-types.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, dryRunFlag, textFlag, yesFlag } from '../../cli/flags.ts';
import type { Context } from '../../cli/session/context.ts';
import { whileHolding } from '../../selection/selected-run.ts';
import { idsOrRun, runFlag } from '../../selection/selection-flags.ts';
import { notToCancel } from '../left-out.ts';
import { cancelAction } from '../plan-writes.ts';
import { confirmPlans } from './actions/confirm-plans.ts';
import { executePlans } from './actions/execute-plans.ts';
import { readNamedOrSelected } from './actions/named-or-selected.ts';
import { actionContext, planEach } from './actions/plan-each.ts';
import { showDryRun } from './actions/show-dry-run.ts';

export const cancelFlags = {
  reason: textFlag('TEXT', 'reason, stored with the envelope'),
  'even-if-declined': booleanFlag('also cancel DECLINED envelopes, which then no longer show as declined', {
    default: false,
  }),
  ...runFlag,
  yes: yesFlag,
  'dry-run': dryRunFlag,
};

type CancelFlags = InferredFlags<typeof cancelFlags>;

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
  static override flags = cancelFlags;

  async run(): Promise<void> {
    const { argv, flags, context } = await this.start(EnvelopesCancel);
    const ids = argv.map(String);
    const { run } = flags;
    if (run === undefined || ids.length > 0 || flags['dry-run']) return cancelFromFlags(ids, flags, context);
    await whileHolding(run, context, (endRun) => cancelFromFlags(ids, flags, context, endRun));
  }
}

/** `endRun` is called when the cancellation is confirmed. */
async function cancelFromFlags(
  ids: readonly string[],
  flags: CancelFlags,
  context: Context,
  endRun?: () => Promise<void>,
): Promise<void> {
  const { reason, 'even-if-declined': evenIfDeclined } = flags;
  const leaveOut = (envelopes: readonly Envelope[]) => notToCancel(envelopes, evenIfDeclined);
  const targets = await readNamedOrSelected(ids, flags, { leaveOut, own: true }, context);
  const action = cancelAction(await actionContext(context), { reason, evenIfDeclined });
  const plans = await planEach(action, targets);
  if (flags['dry-run']) return showDryRun(action, plans, { ...targets, ...flags }, context);
  const confirmed = await confirmPlans(action, plans, { ...targets, ...flags }, context);
  await endRun?.();
  await executePlans(action, confirmed, targets, context);
}
