import { join } from 'node:path';
import { eachBlock, linesWithParts, logFiles, unreadable } from './log-folder.ts';
import { type LoggedWrite, WriteList } from './logged-write.ts';
import { readRecord } from './records.ts';

const REMINDERS = ['"action":"remind"'];

/** Returns all writes of the log, in the order of their intents. Other processes may be writing to it. */
export function readLog(folder: string): Promise<LoggedWrite[]> {
  return read(folder, ['"type":']);
}

/** Returns the reminders of the log to the envelopes of a service, without parsing the rest. */
export async function readReminders(folder: string, baseUrl: string): Promise<LoggedWrite[]> {
  const writes = await read(folder, REMINDERS);
  return writes.filter(({ intent }) => intent.action === 'remind' && intent.baseUrl === baseUrl);
}

async function read(folder: string, parts: readonly string[]): Promise<LoggedWrite[]> {
  const list = new WriteList();
  const linesOf = linesWithParts(parts);
  try {
    for (const name of await logFiles(folder))
      await eachBlock(join(folder, name), (block) => {
        for (const line of linesOf(block)) {
          const record = readRecord(line.toString('utf8'));
          if (record !== undefined) list.take(record, name);
        }
      });
  } catch (error) {
    throw unreadable(folder, error);
  }
  return list.writes;
}
