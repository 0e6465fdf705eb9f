import { join } from 'node:path';
import { readLine } from '../journal/line.ts';
import { eachLine } from '../journal/lines.ts';
import { counted } from '../kernel/duration.ts';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { isRecord, parseJson } from '../kernel/json.ts';
import { endWrite, type LoggedWrite, type LogRecord, readRecord, startedWrite } from './entry.ts';
import { fileName, fileNumber, GENESIS, LOG_KIND, logFiles, readHead } from './files.ts';
import { hashOf } from './write-log.ts';

export interface LogFilter {
  /** Only entries from this time (ms) or later. */
  since?: number | undefined;
  envelopeId?: string | undefined;
}

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

/** Reads the entries of the log. Other processes may be writing to it. */
export async function readLog(folder: string, { since, envelopeId }: LogFilter = {}): Promise<LogReading> {
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
  const isSelected = ({ entry }: LoggedWrite) =>
    envelopeId === undefined || entry.envelopeIds.includes(envelopeId);
  return { writes: [...writes.values()].filter(isSelected), damaged };
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
  /** The first break. */
  break: Break | undefined;
}

/** Checks every line against the one before it, and the last one against the stored head. */
export async function verifyLog(folder: string): Promise<LogVerification> {
  return verified(folder).catch((error: unknown) => failRead(folder, error));
}

async function verified(folder: string): Promise<LogVerification> {
  const chain = new Chain(await readHead(folder));
  for (const name of await logFiles(folder)) {
    chain.beginFile(name);
    await eachLine(join(folder, name), 0, ({ bytes }) => chain.take(bytes));
  }
  return chain.end();
}

class Chain {
  readonly #head: Awaited<ReturnType<typeof readHead>>;
  readonly #ids = new Set<string>();
  #previous = GENESIS;
  #files = 0;
  #file = fileName(1);
  #line = 0;
  #lines = 0;
  #after: string | undefined;
  #hasHead = false;
  #break: Break | undefined;

  constructor(head: Awaited<ReturnType<typeof readHead>>) {
    this.#head = head;
  }

  beginFile(name: string): void {
    this.#file = name;
    this.#files++;
    this.#line = 0;
    if (fileNumber(name) !== this.#files) this.#breaksAt('missing file', undefined);
  }

  take(bytes: Buffer): void {
    this.#line++;
    this.#lines++;
    const value = readLine(bytes);
    const id = idOf(value ?? parsed(bytes));
    if (value === undefined) this.#breaksAt('changed', id);
    else if (!isRecord(value) || value.prev !== this.#previous) this.#breaksAt('not chained', id);
    if (id !== undefined) this.#ids.add(id);
    this.#after = id ?? this.#after;
    this.#previous = hashOf(bytes);
    const head = this.#head;
    if (typeof head === 'object' && head.file === this.#file && head.hash === this.#previous)
      this.#hasHead = true;
  }

  end(): LogVerification {
    // A process may have been killed after it wrote the very first line and before it stored the head.
    const isNew = this.#head === undefined && this.#lines <= 1;
    if (!this.#hasHead && !isNew) {
      this.#line++;
      this.#breaksAt('shortened', undefined);
    }
    return { files: this.#files, entries: this.#ids.size, break: this.#break };
  }

  #breaksAt(reason: Break['reason'], id: string | undefined): void {
    this.#break ??= { file: this.#file, line: this.#line, id, after: this.#after, reason };
  }
}

function isHeader(value: unknown): boolean {
  return isRecord(value) && value.journal === LOG_KIND;
}

function idOf(value: unknown): string | undefined {
  return isRecord(value) && typeof value.id === 'string' ? value.id : undefined;
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch {
    return /"id":"(?<id>[\w-]+)"/.exec(bytes.toString('utf8'))?.groups ?? undefined;
  }
}
