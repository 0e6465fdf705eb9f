import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { writeFileAtomic } from '../../kernel/files.ts';
import { parseJson } from '../../kernel/json.ts';
import type { Folders } from './folders.ts';
import { manifestName, updateManifest } from './manifest.ts';

/** ETags that are not the MD5 of their object (uploads in parts, objects with keys of their own), by file. */
const ETAGS_NAME = '.esign-etags.json';
const etagsSchema = z.record(z.string(), z.object({ sha256: z.string(), etag: z.string() }));

/** How many files may be in a folder before they are in its list. */
const BATCH = 500;

/** What a run remembers of a folder: the list of hashes, and what tells it later that an object is still the same. */
export class Ledger {
  private readonly dir: string;
  private readonly folders: Folders;
  private readonly etags: Map<string, { sha256: string; etag: string }>;
  private etagsChanged = false;
  private fresh = new Map<string, string>();
  private writing: Promise<void> = Promise.resolve();

  private constructor(dir: string, folders: Folders, etags: Map<string, { sha256: string; etag: string }>) {
    this.dir = dir;
    this.folders = folders;
    this.etags = etags;
  }

  static async open(dir: string, folders: Folders): Promise<Ledger> {
    return new Ledger(dir, folders, new Map(Object.entries(await readEtags(dir))));
  }

  /** The ETag under which exactly these bytes were fetched to this path. */
  etagOf(path: string, sha256: string): string | undefined {
    const known = this.etags.get(manifestName(this.dir, path));
    return known?.sha256 === sha256 ? known.etag : undefined;
  }

  /** Notes a file that is there; `etag` where it can't be told from the bytes. */
  async record(path: string, sha256: string, etag: string | undefined): Promise<void> {
    const name = manifestName(this.dir, path);
    this.fresh.set(name, sha256);
    if (etag !== undefined && this.etagOf(path, sha256) !== etag) {
      this.etags.set(name, { sha256, etag });
      this.etagsChanged = true;
    }
    if (this.fresh.size >= BATCH) await this.flush();
  }

  /** Writes down what was noted; a list never names a file whose name is not durable. */
  flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    const files = this.fresh;
    if (files.size === 0) return;
    this.fresh = new Map();
    await this.folders.sync();
    if (this.etagsChanged) {
      this.etagsChanged = false;
      const text = JSON.stringify(Object.fromEntries(this.etags));
      await writeFileAtomic(join(this.dir, ETAGS_NAME), `${text}\n`);
    }
    await updateManifest(this.dir, files);
  }
}

/** A broken or missing memory costs one fetch more, nothing else. */
async function readEtags(dir: string): Promise<z.infer<typeof etagsSchema>> {
  try {
    const found = etagsSchema.safeParse(parseJson(await readFile(join(dir, ETAGS_NAME), 'utf8')));
    return found.success ? found.data : {};
  } catch {
    return {};
  }
}
