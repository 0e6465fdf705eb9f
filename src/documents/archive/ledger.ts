import { join } from 'node:path';
import * as z from 'zod/mini';
import { writeFileAtomic } from '../../kernel/files/files.ts';
import { readRegular } from '../../kernel/files/regular-file.ts';
import { parseJson } from '../../kernel/json.ts';
import type { Folders } from './folders.ts';
import { localError } from './local-error.ts';
import { MANIFEST_NAME, manifestName, readManifest, updateManifest } from './manifest.ts';

/** ETags that are not the MD5 of their object (uploads in parts, objects with keys of their own), by file. */
const ETAGS_NAME = '.esign-etags.json';
const etagsSchema = z.record(z.string(), z.object({ sha256: z.string(), etag: z.string() }));

/** How many files may be in a folder before they are in its list. */
const BATCH = 500;

/** What a run remembers of a folder: the list of hashes, and what tells it later that an object is still the same. */
export class Ledger {
  readonly #dir: string;
  readonly #folders: Folders;
  readonly #etags: Map<string, { sha256: string; etag: string }>;
  #etagsChanged = false;
  #fresh = new Map<string, string>();
  /** How many are to be noted before they are written down. */
  #due = BATCH;
  #writing: Promise<void> = Promise.resolve();

  private constructor(dir: string, folders: Folders, etags: Map<string, { sha256: string; etag: string }>) {
    this.#dir = dir;
    this.#folders = folders;
    this.#etags = etags;
  }

  /** @throws UsageError where the list can't be read: nothing should be fetched that can't be written down. */
  static async open(dir: string, folders: Folders): Promise<Ledger> {
    await readManifest(dir);
    return new Ledger(dir, folders, new Map(Object.entries(await readEtags(dir))));
  }

  /** The ETag under which exactly these bytes were fetched to this path. */
  etagOf(path: string, sha256: string): string | undefined {
    const known = this.#etags.get(manifestName(this.#dir, path));
    return known?.sha256 === sha256 ? known.etag : undefined;
  }

  /** Notes a file that is there; `etag` where it can't be told from the bytes. */
  async record(path: string, sha256: string, etag: string | undefined): Promise<void> {
    const name = manifestName(this.#dir, path);
    this.#fresh.set(name, sha256);
    if (etag !== undefined && this.etagOf(path, sha256) !== etag) {
      this.#etags.set(name, { sha256, etag });
      this.#etagsChanged = true;
    }
    // The file is there all the same; the end of the run tries again and tells.
    if (this.#fresh.size >= this.#due) await this.flush().catch(() => undefined);
  }

  /**
   * Writes down what was noted; a list never names a file whose name is not durable.
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

/** A broken or missing memory costs one fetch more, nothing else. */
async function readEtags(dir: string): Promise<z.infer<typeof etagsSchema>> {
  try {
    const found = etagsSchema.safeParse(parseJson((await readRegular(join(dir, ETAGS_NAME))) ?? ''));
    return found.success ? found.data : {};
  } catch {
    return {};
  }
}
