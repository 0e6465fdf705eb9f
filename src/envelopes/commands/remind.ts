import type { Envelope } from '../../api/resource-types.ts';
import { EsignCommand } from '../../cli/command.ts';
import {
  booleanFlag,
  confirmFlag,
  dryRunFlag,
  durationFlag,
  durationsFlag,
  textFlag,
  yesFlag,
} from '../../cli/flags.ts';
import { IN_FLIGHT } from '../../kernel/statuses.ts';
import { allFlag, idsOrRun, runFlag } from '../../selection/selection-flags.ts';
import { notToRemind } from '../left-out.ts';
import { remindAction } from '../plan-reminders.ts';
import type { Plan } from '../plan-writes.ts';
import { confirmPlans } from './actions/confirm-plans.ts';
import { executePlans } from './actions/execute-plans.ts';
import { readNamedOrSelected } from './actions/named-or-selected.ts';
import { actionContext, planEach } from './actions/plan-each.ts';
import { showDryRun } from './actions/show-dry-run.ts';

export const remindFlags = {
  signer: textFlag('ID|EMAIL', 'signer to remind (default: everyone whose signature is pending)'),
  'min-gap': durationFlag('24h', 'skip signers who were reminded from this machine within this time'),
  at: durationsFlag({
    description:
      'remind a signer once at each of these times after the turn began; for a job that runs every hour',
    helpValue: '3d,7d,12d',
  }),
  weekdays: booleanFlag('remind nobody on a Saturday or Sunday; wait until Monday, same hour (local time)', {
    dependsOn: ['at'],
  }),
  ...runFlag,
  all: allFlag('remind about all envelopes that are SENT or IN_PROGRESS'),
  yes: yesFlag,
  confirm: confirmFlag,
  'dry-run': dryRunFlag,
};

export default class EnvelopesRemind extends EsignCommand {
  static override summary = 'Send a reminder to signers who have not signed yet.';
  static override examples = [
    '<%= config.bin %> envelopes remind env_123',
    '<%= config.bin %> envelopes remind env_123 --signer ada@example.com',
    '<%= config.bin %> envelopes remind --all --at 3d,7d,12d --weekdays --yes',
    '<%= config.bin %> envelopes list --status SENT --older-than 7d --all -q | <%= config.bin %> envelopes remind - --min-gap 24h --yes',
    '<%= config.bin %> envelopes remind --run last --min-gap 24h',
  ];
  static override strict = false;
  static override args = idsOrRun;
  static override flags = remindFlags;

  async run(): Promise<void> {
    const { argv, flags, context, terminal } = await this.start(EnvelopesRemind);
    const { signer, 'min-gap': gapMs, at: steps, weekdays: onWeekdays } = flags;
    const leaveOut = (envelopes: readonly Envelope[]) => notToRemind(envelopes, signer);
    const selection = { leaveOut, all: IN_FLIGHT };
    const targets = await readNamedOrSelected(argv.map(String), flags, selection, context);
    const action = remindAction(await actionContext(context), {
      signersOf: (id) => (signer === undefined ? targets.signers?.get(id) : [signer]),
      gapMs,
      at: steps && { steps, onWeekdays },
      // The other two already decide which reminders are too soon.
      reportsRecent: gapMs === undefined && steps === undefined,
    });
    const plans = (await planEach(action, targets)).filter(isDue);
    if (plans.length === 0 && targets.ids.length > 0 && terminal.errIsTty)
      terminal.notice('No reminder is due.');
    if (flags['dry-run']) return showDryRun(action, plans, { ...targets, ...flags }, context);
    const confirmed = await confirmPlans(action, plans, { ...targets, ...flags }, context);
    await executePlans(action, confirmed, targets, context);
  }
}

/** A job that runs every hour, without a terminal, prints nothing while no step of `--at` is due. */
function isDue(plan: Plan): boolean {
  return plan.kind !== 'skip' || plan.reason.code !== 'NOT_DUE';
}
