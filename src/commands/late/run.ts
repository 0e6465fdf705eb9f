import type { Context } from '../../cli/context.ts';
import { readAccount } from '../../cli/selection/account.ts';
import { type SelectionFlagValues, selectionOf } from '../../cli/selection/flags.ts';
import { type ReminderTimes, readReminderTimes, UNKNOWN_SIGNER } from '../../envelopes/reminder-times.ts';
import { eventsDir, stateDir } from '../../kernel/files/paths.ts';
import { type ListFormat, writeIds, writeList } from '../../output/list.ts';
import { DEFAULT_PERCENTILE } from '../../statistics/defaults.ts';
import { findLate, type LateTurn } from '../../statistics/late.ts';
import { isOpened, readWebhooks } from '../../statistics/opened.ts';
import { nextStep } from './next-step.ts';
import { type LateStep, lateList, renderNextSteps } from './view.ts';

export interface LateFlags extends ListFormat, SelectionFlagValues {
  percentile?: number | undefined;
  after?: number | undefined;
}

/** Shows the signers whose current turn is taking longer than usual, the latest first. */
export async function showLate(flags: LateFlags, context: Context): Promise<void> {
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
  const isTable = terminal.outIsTty && !terminal.json && !flags.csv && flags.fields === undefined;
  if (isTable) await out.out(renderNextSteps(steps, terminal));
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
