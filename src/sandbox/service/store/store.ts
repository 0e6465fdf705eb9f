import { join } from 'node:path';
import { Journal } from '../../../journal/journal.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { privateFolder } from '../../../kernel/files/files.ts';
import { lockFile } from '../../../kernel/files/lock.ts';
import { SERVICE_FORMAT, type StoreChange, type StoreEntry } from './records.ts';
import { entriesOf } from './snapshots.ts';
import { StoreState } from './state.ts';
import { upgradeJournal } from './upgrade.ts';

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
    const release = await lockFolder(dataDir);
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
 * Locks a folder, because only one sandbox can use it. Returns a function that unlocks it. Throws a UsageError if another sandbox uses the
 * folder.
 */
function lockFolder(folder: string): Promise<() => Promise<void>> {
  return lockFile(
    join(folder, 'service.lock'),
    (pid) =>
      new UsageError(`Another sandbox (process ${pid}) is using ${folder}`, {
        hint: 'Stop it first, or use a different folder for this sandbox.',
      }),
  );
}
