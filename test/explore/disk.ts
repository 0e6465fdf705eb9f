import { hash } from 'node:crypto';
import { type LoggedWrite, WriteList } from '../../src/log/logged-write.ts';
import type { LogRecord } from '../../src/log/records.ts';

/** Lines that a process keeps for the next one on its machine. */
export interface Journal {
  /** Appends lines. They outlast the process when this resolves. */
  append(lines: readonly string[]): Promise<void>;
  /** Makes all lines outlast a power failure. */
  sync(): Promise<void>;
  read(): Promise<readonly string[]>;
}

/** What a machine keeps: its log of writes and its journal. */
export class Disk {
  readonly #records: LogRecord[] = [];
  readonly #lines: string[] = [];
  #synced = 0;
  /** Identifies the content. */
  key = '';

  take(records: readonly LogRecord[]): void {
    this.#records.push(...records);
    this.#changed(records);
  }

  find(hashes: readonly string[]): LoggedWrite[] {
    const list = new WriteList();
    for (const record of this.#records) {
      const isWanted =
        hashes.includes(record.key ?? '') || (record.type === 'intent' && hashes.includes(record.body ?? ''));
      if (isWanted) list.take(record, '2026-01.jsonl');
    }
    return list.writes;
  }

  write(lines: readonly string[]): void {
    this.#lines.push(...lines);
    this.#changed(lines);
  }

  sync(): void {
    this.#synced = this.#lines.length;
    this.#changed('synced');
  }

  get lines(): readonly string[] {
    return [...this.#lines];
  }

  get isSynced(): boolean {
    return this.#synced === this.#lines.length;
  }

  /** A power failure: what wasn't synced is gone. */
  losePower(): void {
    this.#lines.length = this.#synced;
    this.#changed('power');
  }

  wipe(): void {
    this.#records.length = 0;
    this.#lines.length = 0;
    this.#synced = 0;
    this.key = '';
  }

  #changed(what: unknown): void {
    this.key = hash('sha1', `${this.key} ${JSON.stringify(what)}`, 'base64url');
  }
}
