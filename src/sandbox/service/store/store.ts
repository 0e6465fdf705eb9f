import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../../kernel/errors.ts';
import { lockFolder } from './folder-lock.ts';
import { Journal } from './journal.ts';
import { type Change, changesSchema } from './records.ts';
import { State } from './state.ts';

/** The state in memory and its journal on disk, under one lock. */
export class Store {
  readonly state: State;
  readonly #journal: Journal;
  readonly #release: () => Promise<void>;

  private constructor(state: State, journal: Journal, release: () => Promise<void>) {
    this.state = state;
    this.#journal = journal;
    this.#release = release;
  }

  /**
   * Opens the sandbox in a folder, made when missing.
   * Throws UsageError when another sandbox has it or its journal is damaged.
   */
  static async open(dataDir: string, facts: { compactAt?: number } = {}): Promise<Store> {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const release = await lockFolder(dataDir);
    try {
      const path = join(dataDir, 'service.jsonl');
      const state = new State();
      const journal = await Journal.open({
        path,
        replay: (line) => {
          for (const change of parseChanges(line, path)) state.apply(change);
        },
        snapshot: function* () {
          for (const change of state.changes()) yield `${JSON.stringify([change])}\n`;
        },
        ...facts,
      });
      return new Store(state, journal, release);
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Makes the changes at once in memory, all together on disk; resolves when they survive a crash. */
  commit(changes: Change[]): Promise<void> {
    for (const change of changes) this.state.apply(change);
    return this.#journal.append(changes);
  }

  /** Makes a change nobody waits for: a crash within half a second may lose it. */
  note(change: Change): void {
    this.state.apply(change);
    this.#journal.note([change]);
  }

  async close(): Promise<void> {
    await this.#journal.close();
    await this.#release();
  }
}

function parseChanges(line: unknown, path: string): Change[] {
  const changes = changesSchema.safeParse(line);
  if (changes.success) return changes.data;
  throw new UsageError(`${path} is not the journal of this version of the sandbox`, {
    hint: 'Move the file away to start with an empty sandbox; nothing was changed.',
    cause: changes.error,
  });
}
