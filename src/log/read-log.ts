import { join } from 'node:path';
import { readLine } from '../journal/line.ts';
import { eachLine } from '../journal/lines.ts';
import { counted } from '../kernel/duration.ts';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { type EndRecord, endWrite, type LoggedWrite, readRecord, startedWrite } from './entry.ts';
import { logFiles } from './files.ts';

export interface LogReading {
  /** In the order in which they were written, regardless of their times. */
  writes: LoggedWrite[];
  /** Number of lines that can't be read. */
  damaged: number;
}

/** Returns the warning about lines of the log that can't be read. */
export function damagedLog(lines: number): string {
  return `${counted(lines, 'line')} in the log can't be read.`;
}

/**
 * Reads the entries of the log, or those from a time (ms) or later. Other processes may be writing to it.
 * @throws UsageError if the log can't be read, such as another user's.
 */
export async function readLog(folder: string, since?: number): Promise<LogReading> {
  const writes = new Map<string, LoggedWrite>();
  const ends: EndRecord[] = [];
  let damaged = 0;
  const take = (bytes: Buffer) => {
    const record = readRecord(readLine(bytes));
    if (record === undefined) damaged++;
    else if (record.type === 'end') ends.push(record);
    else if (since === undefined || Date.parse(record.at) >= since)
      writes.set(record.id, startedWrite(record));
  };
  try {
    for (const name of await logFiles(folder))
      await eachLine(join(folder, name), 0, ({ bytes }) => {
        if (bytes.length > 0) take(bytes);
      });
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw new UsageError(`Can't read the log in ${folder} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check its permissions, or use a different folder with ESIGN_STATE_DIR.',
    });
  }
  // If the clock is set back, the end of a write may be in an earlier file than its beginning.
  for (const end of ends) {
    const write = writes.get(end.id);
    if (write !== undefined) endWrite(write, end);
  }
  return { writes: [...writes.values()], damaged };
}
