import { join } from 'node:path';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { eachBlock, linesWithParts, logFiles } from './log-folder.ts';
import { type LoggedWrite, WriteList } from './logged-write.ts';
import { readRecord } from './records.ts';

/** Parts of a line, one of which it must contain. */
const REMINDERS = ['"action":"remind"', '"type":"refused"'];

/** Returns all writes of the log, in the order of their intents. Other processes may be writing to it. */
export function readLog(folder: string): Promise<LoggedWrite[]> {
  return read(folder, ['"type":']);
}

/** Returns the reminders of the log to the envelopes of a service, without reading the rest. Only refusals are known as outcomes. */
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

/** Returns the error for a log that can't be read, such as another user's. */
function unreadable(folder: string, error: unknown): unknown {
  if (codeOf(error) === undefined) return error;
  return new UsageError(`Can't read the log in ${folder} (${diskReason(error)}).`, {
    cause: error,
    hint: 'Check its permissions, or use a different folder with ESIGN_STATE_DIR.',
  });
}
