import { type LoggedWrite, WriteList } from './logged-write.ts';
import { hashesOf, type LogRecord } from './stored-records.ts';

/** Remembers writes: on disk (`LogFolder`), or in this process (`ProcessMemory`). */
export interface WriteMemory {
  /** Appends records. They are durable when this resolves. @throws UsageError, or JournalError on a full disk, if they can't be written: then nothing may be sent. */
  append(records: readonly LogRecord[]): Promise<void>;
  /**
   * Returns the writes with one of these hashes as their key, body, or content, in the order of their intents. The outcomes are only known of
   * writes that were found by their keys.
   */
  find(hashes: readonly string[]): Promise<LoggedWrite[]>;
}

/** Limits the memory of a server. The service's list shows an envelope long before this many others are created. */
const MAX_RECORDS = 200_000;

/** Remembers the writes of this process until it ends, for programs that have no state folder. */
export class ProcessMemory implements WriteMemory {
  #records: LogRecord[] = [];

  async append(records: readonly LogRecord[]): Promise<void> {
    this.#records.push(...records);
    if (this.#records.length > MAX_RECORDS) this.#records = this.#records.slice(-MAX_RECORDS / 2);
  }

  async find(hashes: readonly string[]): Promise<LoggedWrite[]> {
    const list = new WriteList();
    for (const record of this.#records)
      if (hashesOf(record).some((hash) => hashes.includes(hash))) list.take(record, '');
    return list.writes;
  }
}

/** Remembers nothing, for a dry run. */
export const NO_MEMORY: WriteMemory = {
  append: () => Promise.resolve(),
  find: () => Promise.resolve([]),
};
