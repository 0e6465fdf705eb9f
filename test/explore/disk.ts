import { hash } from 'node:crypto';
import { type LoggedWrite, WriteList } from '../../src/log/logged-write.ts';
import type { LogRecord } from '../../src/log/stored-records.ts';
import type { DiskWork, Result } from './operation.ts';

/** What a machine keeps: its log of writes and its journal. */
export class Disk {
  #records: readonly LogRecord[] = [];
  #lines: readonly string[] = [];
  #synced = 0;
  /** Identifies the content. */
  key = '';

  copy(): Disk {
    const copy = new Disk();
    copy.#records = this.#records;
    copy.#lines = this.#lines;
    copy.#synced = this.#synced;
    copy.key = this.key;
    return copy;
  }

  do(work: DiskWork): Result {
    if (work.kind === 'find') return { kind: 'writes', writes: this.#find(work.hashes) };
    if (work.kind === 'read') return { kind: 'lines', lines: this.#lines };
    if (work.kind === 'log') this.#records = [...this.#records, ...work.records];
    if (work.kind === 'write') this.#lines = [...this.#lines, ...work.lines];
    if (work.kind === 'sync') this.#synced = this.#lines.length;
    this.#changed(work);
    return { kind: 'none' };
  }

  get isSynced(): boolean {
    return this.#synced === this.#lines.length;
  }

  /** A power failure: what wasn't synced is gone. */
  losePower(): void {
    this.#lines = this.#lines.slice(0, this.#synced);
    this.#changed('power');
  }

  wipe(): void {
    this.#records = [];
    this.#lines = [];
    this.#synced = 0;
    this.key = '';
  }

  /** Like that of the log in a folder. */
  #find(hashes: readonly string[]): LoggedWrite[] {
    const list = new WriteList();
    for (const record of this.#records) {
      const isWanted =
        hashes.includes(record.key ?? '') || (record.type === 'intent' && hashes.includes(record.body ?? ''));
      if (isWanted) list.take(record, '2026-01.jsonl');
    }
    return list.writes;
  }

  #changed(what: unknown): void {
    this.key = hash('sha1', `${this.key} ${JSON.stringify(what)}`, 'base64url');
  }
}
