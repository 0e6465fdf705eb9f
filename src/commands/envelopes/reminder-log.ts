import type { Context } from '../../cli/context.ts';
import { ReminderLog } from '../../envelopes/reminders.ts';
import { UsageError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';

/**
 * Runs `work` with the reminder log, locked against other processes. If the log can't be opened and isn't `required`, prints a
 * notice and runs `work` without it.
 */
export async function withReminderLog(
  context: Context,
  options: { required: boolean },
  work: (log: ReminderLog | undefined) => Promise<void>,
): Promise<void> {
  const log = await open(context, options.required);
  try {
    await work(log);
  } finally {
    await log?.close();
  }
}

async function open(context: Context, required: boolean): Promise<ReminderLog | undefined> {
  const { baseUrl } = await context.session.settings();
  try {
    return await ReminderLog.open(stateDir(), baseUrl?.value ?? '', context.session.clock, () =>
      context.session.now(),
    );
  } catch (error) {
    if (required || !(error instanceof UsageError)) throw error;
    context.terminal.notice(`This reminder is not recorded for a later --min-gap. ${error.message}`);
    return undefined;
  }
}
