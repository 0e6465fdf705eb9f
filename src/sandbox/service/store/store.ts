import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../../kernel/errors.ts';
import { makePrivateFolder, replaceAtomic } from '../../../kernel/files/files.ts';
import { lockFile } from '../../../kernel/files/lock.ts';
import { tryParseJson } from '../../../kernel/json.ts';
import { linesOf } from '../../../lines/read-lines.ts';
import { isStoreChange, type StoreChange } from './records.ts';
import { StoreState } from './state.ts';

/** Reports a failure of an operation, such as `POST /api/v1/esign/envelopes`. */
export type ReportFailure = (operation: string, error: unknown) => void;

const FLUSH_MS = 1_000;
/** The number of lines that are written at a time. */
const BATCH = 1_000;

/**
 * The state in memory, and a copy of it in a file: each changed record is appended as a line of JSON once a second, and the last line of a
 * record wins. A kill loses at most the last second. The file is rewritten at every start.
 */
export class Store {
  readonly state: StoreState;
  readonly #file: FileHandle;
  readonly #release: () => Promise<void>;
  readonly #reportFailure: ReportFailure;
  /** The changes that are not in the file yet, by record. */
  #pending = new Map<string, StoreChange>();
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;
  #written: Promise<void> = Promise.resolve();

  private constructor(
    state: StoreState,
    facts: { file: FileHandle; release: () => Promise<void>; reportFailure: ReportFailure },
  ) {
    this.state = state;
    this.#file = facts.file;
    this.#release = facts.release;
    this.#reportFailure = facts.reportFailure;
  }

  /**
   * Opens the sandbox in a folder, which is created if missing.
   * @throws UsageError if another sandbox uses it.
   */
  static async open(dataDir: string, reportFailure: ReportFailure): Promise<Store> {
    await makePrivateFolder(dataDir);
    const release = await lockFile(
      join(dataDir, 'service.lock'),
      (pid) =>
        new UsageError(`Another sandbox (process ${pid}) is using ${dataDir}`, {
          hint: 'Stop it first, or use a different folder for this sandbox.',
        }),
    );
    try {
      const path = join(dataDir, 'state.jsonl');
      const state = await readState(path);
      await replaceAtomic(path, (draft) => writeState(draft, state));
      return new Store(state, { file: await open(path, 'a', 0o600), release, reportFailure });
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Applies the changes together. They are in the file a second later. */
  commit(changes: readonly StoreChange[]): void {
    for (const change of changes) {
      this.state.apply(change);
      if (change.kind === 'reset') this.#pending.clear();
      this.#pending.set(keyOf(change), change);
    }
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes all changes so far. A failure is reported, and the changes are written with the next ones. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#written = this.#written.then(() => this.#write());
    return this.#written;
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
    await this.#file.close();
    await this.#release();
  }

  async #write(): Promise<void> {
    const taken = this.#pending;
    this.#pending = new Map();
    try {
      await appendLines(this.#file, taken.values());
      this.#hasFailed = false;
    } catch (error) {
      // The next attempt is a second later, so only the first failure is reported.
      if (!this.#hasFailed) this.#reportFailure('Storing the state', error);
      this.#hasFailed = true;
      const isObsolete = this.#pending.has('reset');
      if (!isObsolete) this.#pending = new Map([...taken, ...this.#pending]);
      this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
    }
  }
}

function keyOf(change: StoreChange): string {
  const { kind, value } = change;
  return typeof value === 'object' && value !== null ? `${kind} ${value.id}` : kind;
}

/** Reads the state from its file. Lines that a kill or a full disk cut short are skipped. A missing file is an empty state. */
async function readState(path: string): Promise<StoreState> {
  const state = new StoreState();
  for await (const { bytes } of linesOf(path)) {
    const change = tryParseJson(bytes.toString());
    if (isStoreChange(change)) state.apply(change);
  }
  return state;
}

async function writeState(path: string, state: StoreState): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await appendLines(file, state.changes());
  } finally {
    await file.close();
  }
}

async function appendLines(file: FileHandle, changes: Iterable<StoreChange>): Promise<void> {
  // Begins with a line break, because the last line may be cut short.
  let text = '\n';
  let count = 0;
  for (const change of changes) {
    text += `${JSON.stringify(change)}\n`;
    count += 1;
    if (count % BATCH !== 0) continue;
    await file.appendFile(text);
    text = '';
  }
  await file.appendFile(text);
}
