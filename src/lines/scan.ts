import { UsageError } from '../kernel/errors.ts';
import { isDiskError } from '../kernel/files/disk-reason.ts';
import { isRecord } from '../kernel/json.ts';
import { readLine } from './checksummed-line.ts';
import { notReadableError } from './failures.ts';
import { eachLine, type TakeLine } from './read-lines.ts';

export interface JournalFormat<T> {
  /** The kind of the journal. A file of another kind or a newer version is refused. */
  kind: string;
  version: number;
  /** Validates an entry (undefined for a damaged line); returns undefined if it is invalid. */
  read: (value: unknown) => T | undefined;
}

export interface JournalReading<T> {
  path: string;
  format: JournalFormat<T>;
  /** Whether a damaged line inside the file is an error or is skipped and counted. Default: refuse. */
  damaged?: 'refuse' | 'skip';
}

/** What reading a journal found in addition to its entries. */
export interface JournalState {
  /** The number of bytes up to the end of the last complete line. */
  size: number;
  /** The number of damaged lines skipped. */
  skipped: number;
}

/** The place of an entry in its file, in bytes, from the start of its line to the end of its line break. */
export interface EntryPosition {
  start: number;
  end: number;
}

/** Returns the first line of a journal. */
export function headerOf({ kind, version }: JournalFormat<unknown>): object {
  return { journal: kind, version };
}

/**
 * Calls `take` with each entry of a journal, which another process may be writing at the same time. Changes nothing.
 * A missing file has no entries.
 * @throws UsageError if the file can't be read, or is damaged.
 */
export async function scan<T>(
  reading: JournalReading<T>,
  take: (entry: T, span: EntryPosition) => void,
): Promise<JournalState> {
  const { path, format } = reading;
  const state = { size: 0, skipped: 0 };
  let bad: number | undefined;
  let number = 0;
  const takeLine: TakeLine = (bytes, start, end) => {
    number++;
    // The last line may be incomplete. An invalid line is damage only if others follow it.
    if (bad !== undefined) state.skipped += skipLine(bad, reading);
    bad = undefined;
    const value = readLine(bytes);
    if (number === 1) state.skipped += acceptHeader(value, reading);
    else {
      const entry = format.read(value);
      if (entry === undefined) bad = number;
      else take(entry, { start, end });
    }
    if (bad === undefined) state.size = end;
  };
  try {
    await eachLine(path, 0, takeLine);
  } catch (error) {
    throw isDiskError(error) ? notReadableError(path, error) : error;
  }
  return state;
}

function skipLine(line: number, reading: JournalReading<unknown>): number {
  if (reading.damaged === 'skip') return 1;
  throw damagedLineError(line, reading.path);
}

/** The error for a journal with a damaged line, which is not the last one. */
export function damagedLineError(line: number, path: string): UsageError {
  return damagedError(`Line ${line} of the journal ${path} is damaged.`);
}

/** The error for a journal without the entry that each of its kind begins with. */
export function noFirstEntryError(path: string): UsageError {
  return damagedError(`The journal ${path} is damaged: its first entry is missing.`);
}

function damagedError(text: string): UsageError {
  return new UsageError(`${text} It was left unchanged.`, {
    hint: 'A disk error or an editor can cause this. Restore the file from a backup, or move it out of the way.',
  });
}

/** Returns the number of skipped lines. A damaged header is skipped if that is allowed, because each line has its own checksum. */
function acceptHeader(value: unknown, { damaged, format, path }: JournalReading<unknown>): number {
  if (value === undefined && damaged === 'skip') return 1;
  const { journal, version = 0 } = isRecord(value) ? value : {};
  if (journal === format.kind && version === format.version) return 0;
  const why =
    journal === format.kind
      ? `it was written by a different version of esign (format ${String(version)}, this one reads ${format.version})`
      : 'its first line is damaged, or it is not a journal';
  throw new UsageError(`The journal ${path} can't be used: ${why}. It was left unchanged.`, {
    hint: 'Use the version of esign that wrote it, or move the file out of the way.',
  });
}
