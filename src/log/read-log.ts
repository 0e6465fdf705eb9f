import { join } from 'node:path';
import { readLine } from '../journal/line.ts';
import { eachLine } from '../journal/lines.ts';
import { counted } from '../kernel/duration.ts';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { isRecord, tryParseJson } from '../kernel/json.ts';
import { endWrite, type LoggedWrite, type LogRecord, readRecord, startedWrite } from './entry.ts';
import { fileName, fileNumber, GENESIS, LOG_KIND, logFiles, readHead } from './files.ts';
import { hashOf } from './write-log.ts';

export interface LogReading {
  /** In the order in which they were written, regardless of their times. */
  writes: LoggedWrite[];
  /** Number of lines that can't be read. `log verify` reports them. */
  damaged: number;
}

/** Returns the warning about lines of the log that can't be read. */
export function damagedLog(lines: number): string {
  return `${counted(lines, 'line')} in the log can't be read. To check the log, run \`esign log verify\`.`;
}

/** Reads the entries of the log, or those from a time (ms) or later. Other processes may be writing to it. */
export async function readLog(folder: string, since?: number): Promise<LogReading> {
  const writes = new Map<string, LoggedWrite>();
  let damaged = 0;
  const take = (record: LogRecord) => {
    if (record.type === 'begin') {
      if (since === undefined || Date.parse(record.at) >= since) writes.set(record.id, startedWrite(record));
      return;
    }
    const write = writes.get(record.id);
    if (write !== undefined) endWrite(write, record);
  };
  const readFiles = async () => {
    for (const name of await logFiles(folder))
      await eachLine(join(folder, name), 0, ({ bytes }) => {
        const value = readLine(bytes);
        const record = readRecord(value);
        if (record !== undefined) take(record);
        else if (!isHeader(value)) damaged++;
      });
  };
  await readFiles().catch((error: unknown) => failRead(folder, error));
  return { writes: [...writes.values()], damaged };
}

/** Reports a log that can't be read, such as another user's. */
function failRead(folder: string, error: unknown): never {
  if (codeOf(error) === undefined) throw error;
  throw new UsageError(`Can't read the log in ${folder} (${diskReason(error)}).`, {
    cause: error,
    hint: 'Check its permissions, or use a different folder with ESIGN_STATE_DIR.',
  });
}

/** A place where the chain breaks. */
export interface Break {
  file: string;
  /** Counted from 1. 0 means the whole file. */
  line: number;
  /** The ID of the entry in that line, if it can be read. */
  id: string | undefined;
  /** The ID of the last entry before it. */
  after: string | undefined;
  reason: 'changed' | 'not chained' | 'missing file' | 'shortened';
}

export interface LogVerification {
  files: number;
  entries: number;
  break: Break | undefined;
}

/** Checks every line against the one before it, and the last one against the stored head. */
export async function verifyLog(folder: string): Promise<LogVerification> {
  return verified(folder).catch((error: unknown) => failRead(folder, error));
}

async function verified(folder: string): Promise<LogVerification> {
  const head = await readHead(folder);
  const ids = new Set<string>();
  let [file, files, line, lines] = [fileName(1), 0, 0, 0];
  let previous = GENESIS;
  let after: string | undefined;
  const progress = { hasHead: false };
  let found: Break | undefined;
  const breaksAt = (reason: Break['reason'], id?: string) => {
    found ??= { file, line, id, after, reason };
  };
  const take = (bytes: Buffer) => {
    line++;
    lines++;
    const value = readLine(bytes);
    const id = idOf(value ?? parsed(bytes));
    if (value === undefined) breaksAt('changed', id);
    else if (!isRecord(value) || value.prev !== previous) breaksAt('not chained', id);
    if (id !== undefined) ids.add(id);
    after = id ?? after;
    previous = hashOf(bytes);
    if (typeof head === 'object' && head.file === file && head.hash === previous) progress.hasHead = true;
  };
  for (const name of await logFiles(folder)) {
    [file, line] = [name, 0];
    if (fileNumber(name) !== ++files) breaksAt('missing file');
    await eachLine(join(folder, name), 0, ({ bytes }) => take(bytes));
  }
  // A process may have been killed after it wrote the very first line and before it stored the head.
  const isNew = head === undefined && lines <= 1;
  if (!progress.hasHead && !isNew) {
    line++;
    breaksAt('shortened');
  }
  return { files, entries: ids.size, break: found };
}

function isHeader(value: unknown): boolean {
  return isRecord(value) && value.journal === LOG_KIND;
}

function idOf(value: unknown): string | undefined {
  return isRecord(value) && typeof value.id === 'string' ? value.id : undefined;
}

function parsed(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  return tryParseJson(text) ?? /"id":"(?<id>[\w-]+)"/.exec(text)?.groups;
}
