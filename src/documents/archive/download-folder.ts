import { dirname, join, posix } from 'node:path';
import * as z from 'zod/mini';
import { writeFileAtomic } from '../../kernel/files/files.ts';
import { makeFolder, refuseLinks } from '../../kernel/files/folder.ts';
import { lockFile } from '../../kernel/files/lock.ts';
import { readRegular } from '../../kernel/files/regular-file.ts';
import { tryParseJson } from '../../kernel/json.ts';
import { localError } from './local-error.ts';
import { MANIFEST_NAME, manifestName, parseLine, readManifest, updateManifest } from './manifest.ts';

/** The lock held by the run that downloads into this folder. */
export const LOCK_NAME = '.esign.lock';
/** The number of downloaded files after which the list is written. */
const BATCH = 500;

/** The file with ETags, by file name, that aren't the MD5 of their object (multipart uploads, encryption with customer keys). */
const ETAGS_NAME = '.esign-etags.json';
const etagsSchema = z.record(z.string(), z.object({ sha256: z.string(), etag: z.string() }));

/** The earlier download of a file, as the folder's records describe it. */
export interface EarlierDownload {
  /** The hash in SHA256SUMS when the folder was opened. */
  listed: string | undefined;
  /** The ETag that came with exactly these bytes. */
  saved: { sha256: string; etag: string } | undefined;
}

export interface DownloadFolderOptions {
  /** Whether to record the files in SHA256SUMS. */
  hasList: boolean;
  signal?: AbortSignal | undefined;
  /** Called if another process is using the folder, before the wait for it. `owner` is its process ID. */
  onBusy?: ((owner: string) => void) | undefined;
}

/**
 * The folder that a run downloads into, and its subfolders. Only one run at a time uses it; a second one waits. Records the hash of each
 * file in SHA256SUMS, and the ETags that later show whether an object has changed.
 */
export class DownloadFolder {
  readonly dir: string;
  readonly #hasList: boolean;
  readonly #release: () => Promise<void>;
  readonly #etags = new Map<string, { sha256: string; etag: string }>();
  #etagsChanged = false;
  /** The hashes in the list when the folder was opened, by file name. */
  readonly #listed = new Map<string, string>();
  /** Hashes that are not in the list yet, by file name. */
  #fresh = new Map<string, string>();
  #writing: Promise<void> = Promise.resolve();

  private constructor(dir: string, hasList: boolean, release: () => Promise<void>) {
    this.dir = dir;
    this.#hasList = hasList;
    this.#release = release;
  }

  /**
   * Creates the folder if it doesn't exist, locks it, and reads its records.
   * @throws StorageError STORAGE_LOCAL if it isn't writable.
   * @throws UsageError if the list can't be read, because a download that can't be recorded must not start.
   */
  static async open(path: string, options: DownloadFolderOptions): Promise<DownloadFolder> {
    const dir = dirname(join(path, 'file'));
    let folder: DownloadFolder;
    try {
      makeFolder(dir);
      folder = new DownloadFolder(dir, options.hasList, await lock(join(dir, LOCK_NAME), options));
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw localError(error, dir);
    }
    try {
      if (options.hasList) await folder.#readRecords();
      return folder;
    } catch (error) {
      await folder.#release();
      throw error;
    }
  }

  async #readRecords(): Promise<void> {
    for (const line of await readManifest(this.dir)) {
      const entry = parseLine(line);
      if (entry !== undefined) this.#listed.set(posix.normalize(entry.name), entry.sha256);
    }
    // If the file of ETags is broken or missing, the only cost is another download.
    const text = await readRegular(join(this.dir, ETAGS_NAME)).catch(() => undefined);
    const known = etagsSchema.safeParse(tryParseJson(text ?? '')).data ?? {};
    for (const [name, entry] of Object.entries(known)) this.#etags.set(name, entry);
  }

  /** Returns the records of a file. @throws the system's error if a folder on the way to it is a link, which could lead anywhere. */
  check(path: string): EarlierDownload {
    refuseLinks(this.dir, path);
    const name = manifestName(this.dir, path);
    return { listed: this.#listed.get(name), saved: this.#etags.get(name) };
  }

  /** Records a file. `etag` is set if it can't be computed from the bytes. */
  async record(path: string, { sha256, etag }: { sha256: string; etag?: string | undefined }): Promise<void> {
    if (!this.#hasList) return;
    const name = manifestName(this.dir, path);
    this.#fresh.set(name, sha256);
    const known = this.#etags.get(name);
    if (etag !== undefined && (known?.sha256 !== sha256 || known.etag !== etag)) {
      this.#etags.set(name, { sha256, etag });
      this.#etagsChanged = true;
    }
    // The file itself is saved; the last write retries and reports the error.
    if (this.#fresh.size % BATCH === 0) await this.flush().catch(() => undefined);
  }

  /** Writes the records. @throws StorageError STORAGE_LOCAL */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const files = this.#fresh;
    this.#fresh = new Map();
    try {
      if (this.#etagsChanged) await this.#writeEtags();
      await updateManifest(this.dir, files);
    } catch (error) {
      this.#fresh = new Map([...files, ...this.#fresh]);
      throw localError(error, join(this.dir, MANIFEST_NAME));
    }
  }

  async #writeEtags(): Promise<void> {
    const text = JSON.stringify(Object.fromEntries(this.#etags));
    this.#etagsChanged = false;
    await writeFileAtomic(join(this.dir, ETAGS_NAME), `${text}\n`).catch((error: unknown) => {
      this.#etagsChanged = true;
      throw error;
    });
  }

  /** Writes the records, and unlocks the folder even if that fails. */
  async close(): Promise<void> {
    try {
      await this.flush();
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
