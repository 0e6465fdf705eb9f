import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import type { Context } from '../../cli/session/context.ts';
import { findStateDir } from '../../kernel/files/paths.ts';
import { isInFlight } from '../../kernel/statuses.ts';
import { logFolder } from '../../log/log-folder.ts';
import { readReminders } from '../../log/read-log.ts';
import { findOwnReplacement } from '../replace/find-replacement.ts';
import { type SentReminder, SentReminders } from '../sent-reminders.ts';

/** Returns a function that returns the last reminder about an open envelope from this machine. The log is read once, if needed. */
export function lastReminderReader({
  session,
}: Context): (envelope: Envelope) => Promise<SentReminder | undefined> {
  let reading: Promise<SentReminders> | undefined;
  const readTimes = async () => {
    const folder = findStateDir();
    const known =
      folder === undefined ? [] : readReminders(logFolder(folder), await session.baseUrl()).catch(() => []);
    return new SentReminders(await known, session.now());
  };
  return async ({ id, status }) => {
    if (!isInFlight(status)) return undefined;
    reading ??= readTimes();
    return (await reading).lastOf(id);
  };
}

/** Returns the envelope with which this machine replaced another. Errors are ignored, because it is only a hint. */
export async function successorOf(
  { id }: Envelope,
  client: Client,
  { session, interrupt }: Context,
): Promise<Envelope | undefined> {
  try {
    return await findOwnReplacement(client, id, await session.memory(), interrupt.signal);
  } catch {
    return undefined;
  }
}
