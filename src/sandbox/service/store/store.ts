import { copyFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Journal } from '../../../journal/journal.ts';
import { writeLine } from '../../../journal/line.ts';
import { linesOf } from '../../../journal/lines.ts';
import { headerOf } from '../../../journal/scan.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { privateFolder, replaceAtomic } from '../../../kernel/files/files.ts';
import { lockFile } from '../../../kernel/files/lock.ts';
import { readRegularBytes } from '../../../kernel/files/regular-file.ts';
import { tryParseJson } from '../../../kernel/json.ts';
import { SERVICE_FORMAT, type StoreChange, type StoreEntry } from './records.ts';
import { entriesOf } from './snapshots.ts';
import { StoreState } from './state.ts';

/** The state in memory and its journal on disk, under one lock. */
export class Store {
  readonly state: StoreState;
  readonly #journal: Journal<StoreEntry>;
  readonly #release: () => Promise<void>;
  readonly #pendingWrites = new Set<Promise<void>>();
  readonly #watchers = new Set<(change: StoreChange) => void>();

  private constructor(state: StoreState, journal: Journal<StoreEntry>, release: () => Promise<void>) {
    this.state = state;
    this.#journal = journal;
    this.#release = release;
  }

  /**
   * Opens the sandbox in a folder, which is created if missing.
   * @throws UsageError if another sandbox uses it, or if its journal is damaged or has another version.
   */
  static async open(dataDir: string, facts: { compactAt?: number } = {}): Promise<Store> {
    await privateFolder(dataDir);
    const release = await lockFile(
      join(dataDir, 'service.lock'),
      (pid) =>
        new UsageError(`Another sandbox (process ${pid}) is using ${dataDir}`, {
          hint: 'Stop it first, or use a different folder for this sandbox.',
        }),
    );
    try {
      const state = new StoreState();
      const snapshot = () => entriesOf(state.changes());
      const compaction = facts.compactAt === undefined ? { snapshot } : { snapshot, least: facts.compactAt };
      const path = join(dataDir, 'service.jsonl');
      await upgradeJournal(path);
      const journal = await Journal.open({ path, format: SERVICE_FORMAT, compaction }, ({ changes }) => {
        for (const change of changes) state.apply(change);
      });
      return new Store(state, journal, release);
    } catch (error) {
      await release();
      throw error;
    }
  }

  /**
   * Applies the changes together, first on disk, then in memory. Resolves when they are durable.
   * @throws JournalError or UsageError if they can't be written; then nothing has changed.
   */
  commit(changes: StoreChange[]): Promise<void> {
    const done = this.#write(changes);
    this.#pendingWrites.add(done);
    return done.finally(() => this.#pendingWrites.delete(done));
  }

  /** Applies a change without waiting until it is durable. A crash within half a second may lose it. */
  note(change: StoreChange): void {
    this.state.apply(change);
    this.#journal.note({ changes: [change] });
  }

  /**
   * Replaces the current state, on disk first. `journal` is a file with the same content.
   * @throws as `commit` does.
   */
  async replace(changes: readonly StoreChange[], journal: string): Promise<void> {
    if (this.#journal.hasFailed) await this.#journal.reopen();
    await this.#journal.replace(journal);
    this.state.apply({ kind: 'reset', value: null });
    for (const change of changes) this.state.apply(change);
  }

  /** Calls `listener` after each committed change, until the returned function is called. */
  watch(watcher: (change: StoreChange) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Resolves when all current commits have finished. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled(this.#pendingWrites);
  }

  async close(): Promise<void> {
    await this.#journal.close();
    await this.#release();
  }

  async #write(changes: StoreChange[]): Promise<void> {
    // A full disk may have space again.
    if (this.#journal.hasFailed) await this.#journal.reopen();
    await this.#journal.append({ changes });
    for (const change of changes) {
      this.state.apply(change);
      for (const watcher of this.#watchers) watcher(change);
    }
  }
}

/**
 * Converts a journal of version 0.1, in which a line was a list of changes without a checksum, to this version. The original is kept with
 * `.0.1` appended to its name. Any other file is left unchanged.
 * @throws UsageError if a line can't be read; then nothing has changed.
 */
async function upgradeJournal(path: string): Promise<void> {
  const start = await readRegularBytes(path, { maxBytes: 1 });
  if (start?.toString('latin1') !== '[') return;
  await replaceAtomic(path, async (draft) => {
    await rewrite(path, draft);
    await copyFile(path, `${path}.0.1`);
  });
}

async function rewrite(path: string, draft: string): Promise<void> {
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.appendFile(writeLine(headerOf(SERVICE_FORMAT)));
    let number = 0;
    for await (const { bytes } of linesOf(path)) {
      number += 1;
      const entry = SERVICE_FORMAT.read({ changes: tryParseJson(bytes.toString('utf8')) });
      if (entry === undefined)
        throw new UsageError(`Line ${number} of the journal ${path} is damaged. It was left unchanged.`, {
          hint: 'It was written by esign 0.1. To start with an empty sandbox, move the file out of the way.',
        });
      await file.appendFile(writeLine(entry));
    }
  } finally {
    await file.close();
  }
}
