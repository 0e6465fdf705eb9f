import { dirname, join } from 'node:path';
import { makeFolder, refuseLinks } from '../../kernel/files/folder.ts';
import { lockFile } from '../../kernel/files/lock.ts';
import { localError } from './local-error.ts';
import { MANIFEST_NAME, manifestName, readManifest, updateManifest } from './manifest.ts';

/** The lock held by the run that downloads into this folder. */
export const LOCK_NAME = '.esign.lock';

export interface DownloadFolderOptions {
  /** Whether to record the files in SHA256SUMS. */
  hasList: boolean;
  signal?: AbortSignal | undefined;
  /** Called if another process is using the folder, before the wait for it. `owner` is its process ID. */
  onBusy?: ((owner: string) => void) | undefined;
}

/**
 * The folder that a run downloads into, and its subfolders. Only one run at a time uses it; a second one waits. Records the hash of each
 * file in SHA256SUMS.
 */
export class DownloadFolder {
  readonly dir: string;
  readonly #hasList: boolean;
  readonly #release: () => Promise<void>;
  /** The hashes of the saved files, by name. */
  readonly #hashes = new Map<string, string>();

  private constructor(dir: string, hasList: boolean, release: () => Promise<void>) {
    this.dir = dir;
    this.#hasList = hasList;
    this.#release = release;
  }

  /**
   * Creates the folder if it doesn't exist, and locks it.
   * @throws StorageError STORAGE_LOCAL if it isn't writable.
   * @throws UsageError if the list can't be read, because a download that can't be recorded must not start.
   */
  static async open(path: string, options: DownloadFolderOptions): Promise<DownloadFolder> {
    const dir = dirname(join(path, 'file'));
    try {
      makeFolder(dir);
      if (options.hasList) await readManifest(dir);
      return new DownloadFolder(dir, options.hasList, await lock(join(dir, LOCK_NAME), options));
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw localError(error, dir);
    }
  }

  /** @throws the system's error if a folder on the way to a file is a link, which could lead anywhere. */
  check(path: string): void {
    refuseLinks(this.dir, path);
  }

  record(path: string, sha256: string): void {
    this.#hashes.set(manifestName(this.dir, path), sha256);
  }

  /** Writes the list, and unlocks the folder even if that fails. @throws StorageError STORAGE_LOCAL */
  async close(): Promise<void> {
    try {
      if (this.#hasList) await updateManifest(this.dir, this.#hashes);
    } catch (error) {
      throw localError(error, join(this.dir, MANIFEST_NAME));
    } finally {
      await this.#release();
    }
  }
}

/** Locks a folder. If another process is using it, waits until it has finished. */
async function lock(path: string, { signal, onBusy }: DownloadFolderOptions): Promise<() => Promise<void>> {
  let owner: string | undefined;
  const busy = new Error('the folder is in use');
  const release = await lockFile(path, (pid) => {
    owner = pid;
    return busy;
  }).catch((error: unknown) => {
    if (error !== busy) throw error;
    return undefined;
  });
  if (release !== undefined) return release;
  onBusy?.(owner ?? '');
  return lockFile(path, () => busy, { waitMs: Number.POSITIVE_INFINITY, signal });
}
