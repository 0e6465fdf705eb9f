import { lstatSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import * as z from 'zod/mini';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { StorageError } from '../../kernel/errors.ts';
import { syncFolder, writeFileAtomic } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { isLocked, lockFile } from '../../kernel/files/lock.ts';
import { readRegular } from '../../kernel/files/regular-file.ts';
import { tryParseJson } from '../../kernel/json.ts';
import { mapAhead } from '../../kernel/streams.ts';
import { localError } from './local-error.ts';
import { MANIFEST_NAME, manifestName, parseLine, readManifest, updateManifest } from './manifest.ts';

/** The lock held by the run that downloads into this folder and its subfolders. */
export const LOCK_NAME = '.esign.lock';
/** How long a run waits for another one, so that short downloads started together (xargs -P) take turns. */
const LOCK_WAIT_MS = 10_000;
/** How often a waiting run checks whether the folders above are unlocked. */
const LOCK_POLL_MS = 20;
const CONCURRENT_SYNCS = 16;
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
  /** The only file that the run writes. Other runs may write other files into the same folder. */
  onlyFile?: string | undefined;
  /** Whether to record the files in SHA256SUMS. */
  hasList: boolean;
  clock?: Clock | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The folder that a run downloads into, and its subfolders. Only one run at a time uses them. Records the hash of each file in SHA256SUMS,
 * and the ETags that later show whether an object has changed.
 */
export class DownloadFolder {
  readonly dir: string;
  readonly #options: DownloadFolderOptions;
  readonly #release: () => Promise<void>;
  readonly #etags = new Map<string, { sha256: string; etag: string }>();
  #etagsChanged = false;
  /** The hashes in the list when the folder was opened, by file name. */
  readonly #listed = new Map<string, string>();
  readonly #checked = new Map<string, Promise<void>>();
  /** Hashes that are not in the list yet, by file name. */
  #fresh = new Map<string, string>();
  readonly #unsynced = new Set<string>();
  /** The number of records that triggers the next write. */
  #due = BATCH;
  #writing: Promise<void> = Promise.resolve();

  private constructor(dir: string, options: DownloadFolderOptions, release: () => Promise<void>) {
    this.dir = dir;
    this.#options = options;
    this.#release = release;
    this.#checked.set(dir, Promise.resolve());
  }

  /**
   * Creates the folder if it doesn't exist, locks it, and reads its records.
   * @throws StorageError STORAGE_LOCAL if another process is using it or it isn't writable.
   * @throws UsageError if the list can't be read, because a download that can't be recorded must not start.
   */
  static async open(path: string, options: DownloadFolderOptions): Promise<DownloadFolder> {
    const dir = dirname(join(path, 'file'));
    let folder: DownloadFolder;
    try {
      makeFolder(dir);
      folder = new DownloadFolder(dir, options, await lock(dir, options));
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw localError(error, join(dir, options.onlyFile ?? ''));
    }
    try {
      if (options.onlyFile === undefined) await folder.#readRecords();
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

  /** Returns the records of a file. Throws if another run has locked the file or its folder, or if the folder is a link. */
  async check(path: string): Promise<EarlierDownload> {
    await this.#checkFolder(dirname(path));
    if (this.#options.onlyFile === undefined) {
      const lockPath = lockPathOf(path);
      const isPresent = lstatSync(lockPath, { throwIfNoEntry: false }) !== undefined;
      if (isPresent && (await isLocked(lockPath))) throw inUse(dirname(path));
    }
    const name = manifestName(this.dir, path);
    return { listed: this.#listed.get(name), saved: this.#etags.get(name) };
  }

  #checkFolder(folder: string): Promise<void> {
    let check = this.#checked.get(folder);
    if (check === undefined) {
      check = this.#checkFolder(dirname(folder)).then(() => checkSubfolder(folder));
      this.#checked.set(folder, check);
      check.catch(() => this.#checked.delete(folder));
    }
    return check;
  }

  /** Records a file. `etag` is set if it can't be computed from the bytes, `isNew` if the file was renamed in this run. */
  async record(
    path: string,
    { sha256, etag, isNew }: { sha256: string; etag?: string | undefined; isNew: boolean },
  ): Promise<void> {
    // The folders above may be new, too.
    for (let at = dirname(path); isNew; at = dirname(at)) {
      this.#unsynced.add(at);
      if (at === this.dir || at === dirname(at)) break;
    }
    if (!this.#options.hasList) return;
    const name = manifestName(this.dir, path);
    this.#fresh.set(name, sha256);
    const known = this.#etags.get(name);
    if (etag !== undefined && (known?.sha256 !== sha256 || known.etag !== etag)) {
      this.#etags.set(name, { sha256, etag });
      this.#etagsChanged = true;
    }
    // The file itself is saved; the last write retries and reports the error.
    if (this.#fresh.size >= this.#due) await this.flush().catch(() => undefined);
  }

  /**
   * Makes the renames durable, then writes the records: the list never names a file whose rename is not durable.
   * @throws StorageError STORAGE_LOCAL
   */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const files = this.#fresh;
    const folders = [...this.#unsynced];
    this.#fresh = new Map();
    this.#unsynced.clear();
    try {
      for await (const _ of mapAhead(folders, CONCURRENT_SYNCS, syncFolder));
      await this.#writeEtags();
      await updateManifest(this.dir, files);
    } catch (error) {
      this.#fresh = new Map([...files, ...this.#fresh]);
      for (const folder of folders) this.#unsynced.add(folder);
      throw localError(error, join(this.dir, MANIFEST_NAME));
    } finally {
      this.#due = this.#fresh.size + BATCH;
    }
  }

  async #writeEtags(): Promise<void> {
    if (!this.#etagsChanged) return;
    this.#etagsChanged = false;
    try {
      const text = JSON.stringify(Object.fromEntries(this.#etags));
      await writeFileAtomic(join(this.dir, ETAGS_NAME), `${text}\n`);
    } catch (error) {
      this.#etagsChanged = true;
      throw error;
    }
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

function lockPathOf(path: string): string {
  return `${path}.part.lock`;
}

function inUse(folder: string, pid = ''): StorageError {
  const owner = pid === '' ? 'Another esign process' : `Another esign process (${pid})`;
  return new StorageError('STORAGE_LOCAL', `${owner} is downloading into ${folder}.`, {
    hint: 'Wait until it has finished, or use a different folder with --dir.',
  });
}

/** Throws if another run has locked a subfolder, or if it is a link, which could lead anywhere. The folder may not exist yet. */
async function checkSubfolder(folder: string): Promise<void> {
  const stat = await lstat(folder).catch(() => undefined);
  if (stat?.isSymbolicLink()) throw Object.assign(new Error(`${folder} is a link`), { code: 'ELOOP' });
  if (await isLocked(join(folder, LOCK_NAME))) throw inUse(folder);
}

/** Locks a folder, or one file in it, once no other run has locked it or a folder above it. */
async function lock(
  dir: string,
  { onlyFile, clock = systemClock, signal }: DownloadFolderOptions,
): Promise<() => Promise<void>> {
  const path = onlyFile === undefined ? join(dir, LOCK_NAME) : lockPathOf(join(dir, onlyFile));
  const real = await realpath(dir);
  for (let waited = 0; ; waited += LOCK_POLL_MS) {
    const waitMs = Math.max(0, LOCK_WAIT_MS - waited);
    const release = await lockFile(path, (pid) => inUse(dir, pid), { waitMs, clock, signal });
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
