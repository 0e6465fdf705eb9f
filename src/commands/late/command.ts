import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { durationFlag, formatFlags } from '../../cli/flags.ts';
import { readAccount } from '../../cli/selection/account.ts';
import { selectionFlags, selectionOf } from '../../cli/selection/flags.ts';
import { type ReminderTimes, readReminderTimes, UNKNOWN_SIGNER } from '../../envelopes/reminder-times.ts';
import { eventsDir, stateDir } from '../../kernel/files/paths.ts';
import { isForPerson, writeIds, writeList } from '../../output/list.ts';
import { DEFAULT_PERCENTILE } from '../../statistics/defaults.ts';
import { findLate, type LateTurn } from '../../statistics/late.ts';
import { isOpened, readWebhooks } from '../../statistics/opened.ts';
import { nextStep } from './next-step.ts';
import { type LateStep, lateList, renderNextSteps } from './view.ts';

export default class Late extends EsignCommand {
  static override summary = 'Show signers who are taking longer than usual, and what to do next.';
  static override description =
    'The usual time is taken from turns that finished in the last 180 days: first those for the same template and role, if there are at least 20, otherwise those for the template, and then those for the account. With less history, it is 7 days. A signer\'s turn begins when the envelope is sent, or when the previous signer has signed. "Opened" is unknown unless `esign listen` received the envelope\'s webhooks on this machine for the whole turn.';
  static override examples = [
    '<%= config.bin %> late',
    '<%= config.bin %> late --template tmpl_lease --after 3d',
    '<%= config.bin %> late -q | <%= config.bin %> envelopes remind -',
    '<%= config.bin %> late --json | jq -r .[].next',
  ];
  static override flags = {
    ...selectionFlags,
    percentile: Flags.integer({
      description: `percentile of finished turns after which a signer is late (default ${DEFAULT_PERCENTILE})`,
      helpValue: 'N',
      min: 1,
      max: 100,
      exclusive: ['after'],
    }),
    after: durationFlag({
      description: 'time after which a signer is late, instead of the usual time',
      helpValue: '7d',
    }),
    ...formatFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Late);
    const context = this.context(flags);
    const { session, terminal } = context;
    const out = terminal.hidingSecrets();
    const selection = await selectionOf(flags, context);
    const account = await readAccount({ selection, scope: 'all' }, context);
    const late = await findLate(account, {
      now: session.now(),
      percent: flags.percentile ?? DEFAULT_PERCENTILE,
      afterMs: flags.after,
    });
    if (flags.quiet) return writeIds([...new Set(late.map(({ envelope }) => envelope.id))], out);

    const steps = await stepsFor(late, context);
    const rows = steps.map(({ row }) => row);
    await writeList(rows, lateList(session.now()), flags, out);
    if (rows.length === 0) return terminal.notice('No signers are late.');
    if (isForPerson(flags, terminal)) await out.out(renderNextSteps(steps, terminal));
  }
}

async function stepsFor(late: readonly LateTurn[], { session }: Context): Promise<LateStep[]> {
  const { baseUrl } = await session.settings();
  const reminders = await readReminderTimes(stateDir(), baseUrl?.value ?? '');
  const webhooks = await readWebhooks(eventsDir(), late, {
    serviceNow: session.now(),
    machineNow: session.clock.now(),
  });
  return late.map((one) => {
    const { envelope, turn, waitingMs, usual } = one;
    const { signer, beganAt } = turn;
    const opened = isOpened(one, webhooks);
    const remindedAt = lastReminder(reminders, one);
    const { step, next } = nextStep({ envelope, signer, opened, remindedAt });
    const { id = null, name = null, email = null, role = null } = signer;
    const row = {
      envelopeId: envelope.id,
      signer: { id, name, email, role },
      since: new Date(beganAt).toISOString(),
      waitingMs,
      usual,
      opened,
      remindedAt,
      expiresAt: envelope.expiresAt ?? null,
      next,
    };
    return { row, step };
  });
}

/** Returns the time of the last reminder that this machine sent to the signer since the turn began. */
function lastReminder(reminders: ReminderTimes, { envelope, turn }: LateTurn): string | null {
  const { email, id } = turn.signer;
  const times = reminders
    .since(envelope.id, turn.beganAt, email ?? id ?? '')
    .filter(({ signer }) => signer !== UNKNOWN_SIGNER)
    .map(({ at }) => at);
  return times.length === 0 ? null : new Date(Math.max(...times)).toISOString();
}
