import { join } from 'node:path';
import * as z from 'zod/mini';
import { writeFileAtomic } from '../../kernel/files/files.ts';
import { readRegular } from '../../kernel/files/regular-file.ts';
import { tryParseJson } from '../../kernel/json.ts';
import type { Folders } from './folders.ts';
import { localError } from './local-error.ts';
import { MANIFEST_NAME, manifestName, readManifest, updateManifest } from './manifest.ts';

/** The file with ETags, by file name, that aren't the MD5 of their object (multipart uploads, encryption with customer keys). */
const ETAGS_NAME = '.esign-etags.json';
const etagsSchema = z.record(z.string(), z.object({ sha256: z.string(), etag: z.string() }));

/** The number of downloaded files after which the list is written. */
const BATCH = 500;

/** The records of a folder: the list of hashes, and the ETags that later show whether an object has changed. */
export class Ledger {
  readonly #dir: string;
  readonly #folders: Folders;
  readonly #etags: Map<string, { sha256: string; etag: string }>;
  #etagsChanged = false;
  #fresh = new Map<string, string>();
  /** The number of records that triggers the next write. */
  #due = BATCH;
  #writing: Promise<void> = Promise.resolve();

  private constructor(dir: string, folders: Folders, etags: Map<string, { sha256: string; etag: string }>) {
    this.#dir = dir;
    this.#folders = folders;
    this.#etags = etags;
  }

  /** Opens a folder's records. @throws UsageError if the list can't be read, because a download that can't be recorded must not start. */
  static async open(dir: string, folders: Folders): Promise<Ledger> {
    await readManifest(dir);
    return new Ledger(dir, folders, new Map(Object.entries(await readEtags(dir))));
  }

  /** Returns the ETag recorded when exactly these bytes were downloaded to this path. */
  etagOf(path: string, sha256: string): string | undefined {
    const known = this.#etags.get(manifestName(this.#dir, path));
    return known?.sha256 === sha256 ? known.etag : undefined;
  }

  /** Records a file, with its `etag` if that can't be computed from the bytes. */
  async record(path: string, sha256: string, etag: string | undefined): Promise<void> {
    const name = manifestName(this.#dir, path);
    this.#fresh.set(name, sha256);
    if (etag !== undefined && this.etagOf(path, sha256) !== etag) {
      this.#etags.set(name, { sha256, etag });
      this.#etagsChanged = true;
    }
    // The file itself is saved; the final flush retries and reports the error.
    if (this.#fresh.size >= this.#due) await this.flush().catch(() => undefined);
  }

  /**
   * Writes the records. The list never names a file whose rename is not durable yet.
   * @throws StorageError STORAGE_LOCAL
   */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const files = this.#fresh;
    if (files.size === 0) return;
    this.#fresh = new Map();
    try {
      await this.#folders.sync();
      await this.#writeEtags();
      await updateManifest(this.#dir, files);
    } catch (error) {
      this.#fresh = new Map([...files, ...this.#fresh]);
      throw localError(error, join(this.#dir, MANIFEST_NAME));
    } finally {
      this.#due = this.#fresh.size + BATCH;
    }
  }

  async #writeEtags(): Promise<void> {
    if (!this.#etagsChanged) return;
    const text = JSON.stringify(Object.fromEntries(this.#etags));
    this.#etagsChanged = false;
    try {
      await writeFileAtomic(join(this.#dir, ETAGS_NAME), `${text}\n`);
    } catch (error) {
      this.#etagsChanged = true;
      throw error;
    }
  }
}

/** Reads the saved ETags. If their file is broken or missing, the only cost is another download. */
async function readEtags(dir: string): Promise<z.infer<typeof etagsSchema>> {
  const text = await readRegular(join(dir, ETAGS_NAME)).catch(() => undefined);
  return etagsSchema.safeParse(tryParseJson(text ?? '')).data ?? {};
}
