import { lstat, readdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { StorageError } from '../../kernel/errors.ts';
import { syncFolder } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { isLocked, lockFile } from '../../kernel/files/lock.ts';
import { ifExists } from '../../kernel/files/regular-file.ts';
import { mapAhead } from '../../kernel/streams.ts';
import { localError } from './local-error.ts';

/** The lock held by the run that downloads into this folder and its subfolders. */
const LOCK_NAME = '.esign.lock';
/** How long a run waits for another one, so that short downloads started together (xargs -P) take turns. */
const LOCK_WAIT_MS = 10_000;
/** How often a waiting run checks whether the folders above are unlocked. */
const LOCK_POLL_MS = 20;
const CONCURRENT_SYNCS = 16;
const SYNC_BATCH = 64;
const NO_NAMES: ReadonlySet<string> = new Set();

export interface FoldersOptions {
  /** The only file that the run writes. Other runs may write other files into the same folder. */
  onlyFile?: string | undefined;
  clock?: Clock | undefined;
  signal?: AbortSignal | undefined;
}

/** The folder that a run downloads into, and its subfolders. Only one run at a time uses them. */
export class Folders {
  readonly #top: string;
  readonly #onlyFile: string | undefined;
  readonly #release: () => Promise<void>;
  /** The names in each folder when the run first read it. */
  readonly #names = new Map<string, Promise<ReadonlySet<string>>>();
  /** Folders that didn't exist at that time. A folder is removed from this set once it contains a file. */
  readonly #missing = new Set<string>();
  readonly #unsynced = new Set<string>();
  #syncing: Promise<void> = Promise.resolve();

  private constructor(top: string, onlyFile: string | undefined, release: () => Promise<void>) {
    this.#top = top;
    this.#onlyFile = onlyFile;
    this.#release = release;
  }

  /**
   * Creates the folder if it doesn't exist, and locks it.
   * @throws StorageError STORAGE_LOCAL if another process is using it or it isn't writable.
   */
  static async open(dir: string, options: FoldersOptions = {}): Promise<Folders> {
    const { onlyFile, clock = systemClock, signal } = options;
    const top = dirname(join(dir, 'file'));
    try {
      makeFolder(top);
      return new Folders(top, onlyFile, await lock(top, onlyFile, { clock, signal }));
    } catch (error) {
      if (signal?.aborted) throw error;
      throw localError(error, top);
    }
  }

  /**
   * Returns false if nothing has this path. Reads the file's folder on first use; a folder that doesn't exist is not created yet.
   * @throws if another run has locked the folder or the file, or the folder is a link.
   */
  async mayExist(path: string): Promise<boolean> {
    const folder = dirname(path);
    const names = await this.#namesIn(folder);
    const name = basename(path);
    if (name !== this.#onlyFile) await refuseLocked(folder, lockNameOf(name), names);
    // A process that was killed right after renaming its part file leaves the note behind.
    if (names.has(caseless(`${name}.part.json`)) && !names.has(caseless(`${name}.part`)))
      await rm(`${path}.part.json`, { force: true });
    return names.has(caseless(name));
  }

  #namesIn(folder: string): Promise<ReadonlySet<string>> {
    let names = this.#names.get(folder);
    if (names === undefined) {
      names = this.#readNames(folder);
      this.#names.set(folder, names);
      names.catch(() => this.#names.delete(folder));
    }
    return names;
  }

  async #readNames(folder: string): Promise<ReadonlySet<string>> {
    if (folder !== this.#top) {
      const above = await this.#namesIn(dirname(folder));
      if (!above.has(caseless(basename(folder)))) return this.#addMissing(folder);
      await refuseLink(folder);
    }
    const found = await ifExists(readdir(folder));
    if (found === undefined) return this.#addMissing(folder);
    const names = new Set(found.map(caseless));
    if (folder !== this.#top) await refuseLocked(folder, LOCK_NAME, names);
    return names;
  }

  #addMissing(folder: string): ReadonlySet<string> {
    this.#missing.add(folder);
    return NO_NAMES;
  }

  /** Records that a file was renamed in a folder. The folder, and any new folders above it, must be synced. */
  renamedIn(folder: string): void {
    this.#unsynced.add(folder);
    if (this.#missing.delete(folder)) this.renamedIn(dirname(folder));
    // A long run also syncs while it is running; an error is reported when it ends.
    if (this.#unsynced.size >= SYNC_BATCH) this.sync().catch(() => undefined);
  }

  /** Makes all earlier renames durable. */
  sync(): Promise<void> {
    const folders = [...this.#unsynced];
    this.#unsynced.clear();
    this.#syncing = Promise.all([this.#syncing, syncAll(folders)]).then(() => undefined);
    return this.#syncing;
  }

  /** Syncs the folders, and unlocks them even when that fails. */
  async close(): Promise<void> {
    try {
      await this.sync();
    } finally {
      await this.#release();
    }
  }
}

function lockNameOf(fileName: string): string {
  return `${fileName}.part.lock`;
}

function inUse(folder: string, pid = ''): StorageError {
  const owner = pid === '' ? 'Another esign process' : `Another esign process (${pid})`;
  return new StorageError('STORAGE_LOCAL', `${owner} is downloading into ${folder}.`, {
    hint: 'Wait until it is done, or use another folder with --dir.',
  });
}

async function refuseLocked(folder: string, lockName: string, names: ReadonlySet<string>): Promise<void> {
  if (names.has(caseless(lockName)) && (await isLocked(join(folder, lockName)))) throw inUse(folder);
}

/** Locks a folder, or one file in it, once no other run has locked it or a folder above it. */
async function lock(
  top: string,
  onlyFile: string | undefined,
  { clock, signal }: { clock: Clock; signal: AbortSignal | undefined },
): Promise<() => Promise<void>> {
  const path = join(top, onlyFile === undefined ? LOCK_NAME : lockNameOf(onlyFile));
  const real = await realpath(top);
  for (let waited = 0; ; waited += LOCK_POLL_MS) {
    const waitMs = Math.max(0, LOCK_WAIT_MS - waited);
    const release = await lockFile(path, (pid) => inUse(top, pid), { waitMs, clock, signal });
    // Lock first, then check: of two runs, at least one sees the other. The lock is released while waiting.
    const locked = await lockedFrom(onlyFile === undefined ? dirname(real) : real).catch(async (error) => {
      await release();
      throw error;
    });
    if (locked === undefined) return release;
    await release();
    if (waitMs === 0) throw inUse(locked);
    await clock.sleep(LOCK_POLL_MS, signal);
  }
}

/** Returns the nearest locked folder, from `start` upward. */
async function lockedFrom(start: string): Promise<string | undefined> {
  for (let folder = start; ; folder = dirname(folder)) {
    if (await isLocked(join(folder, LOCK_NAME))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

async function syncAll(folders: readonly string[]): Promise<void> {
  for await (const _ of mapAhead(folders, CONCURRENT_SYNCS, syncFolder));
}

/** Throws if a folder is a link. The top folder may be one, because the user named it; a link below it could lead anywhere. */
async function refuseLink(folder: string): Promise<void> {
  const stat = await lstat(folder).catch(() => undefined);
  if (stat?.isSymbolicLink()) throw Object.assign(new Error(`${folder} is a link`), { code: 'ELOOP' });
}

/** Returns the name as a case-insensitive disk compares it. */
function caseless(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
