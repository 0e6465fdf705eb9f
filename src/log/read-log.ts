import { linesWithParts, readRecords } from './log-folder.ts';
import { type LoggedWrite, WriteList } from './logged-write.ts';

const REMINDERS = ['"action":"remind"'];
const CANCELS = ['"action":"cancel"'];

/** Returns all writes of the log, in the order of their intents. Other processes may be writing to it. */
export function readLog(folder: string): Promise<LoggedWrite[]> {
  return read(folder, ['"type":']);
}

/** Returns the reminders of the log to the envelopes of a service, without parsing the rest. */
export async function readReminders(folder: string, baseUrl: string): Promise<LoggedWrite[]> {
  const writes = await read(folder, REMINDERS);
  return writes.filter(({ intent }) => intent.action === 'remind' && intent.baseUrl === baseUrl);
}

/** Returns the cancels of the log of a service's envelopes, without parsing the rest. */
export async function readCancels(folder: string, baseUrl: string): Promise<LoggedWrite[]> {
  const writes = await read(folder, CANCELS);
  return writes.filter(({ intent }) => intent.action === 'cancel' && intent.baseUrl === baseUrl);
}

async function read(folder: string, parts: readonly string[]): Promise<LoggedWrite[]> {
  const list = new WriteList();
  for (const { record, file } of await readRecords(folder, linesWithParts(parts))) list.take(record, file);
  return list.writes;
}
