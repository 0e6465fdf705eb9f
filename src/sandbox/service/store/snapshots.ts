import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { snapshotLines, writeInSlices } from '../../../journal/compaction.ts';
import { scan } from '../../../journal/scan.ts';
import { exists, privateFolder, syncFile, syncFolder } from '../../../kernel/files/files.ts';
import { isRecord, tryParseJson } from '../../../kernel/json.ts';
import type { ObjectWriter } from '../../model.ts';
import { notFound } from '../base/errors.ts';
import { SERVICE_FORMAT, type StoreChange, type StoreEntry } from './records.ts';
import type { Uploads } from './uploads.ts';

export interface SnapshotInfo {
  name: string;
  createdAt: string;
  envelopes: number;
}

/** The records of a state, and the path of a journal with the same content. */
export interface SavedState {
  changes: readonly StoreChange[];
  journal: string;
}

/** The allowed names of snapshots, which are used as folder names. */
export const SNAPSHOT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The file with a snapshot's properties, written last. */
const FACTS = 'snapshot.json';
/** A snapshot that is being replaced by a new one with the same name. */
const EARLIER = /^\.old-(.+)$/;

/** Named snapshots of the state. Each is a folder with the records, the documents, and the uploaded PDFs. */
export class Snapshots {
  readonly #folder: string;
  readonly #files: { objects: ObjectWriter; uploads: Uploads };
  /** The records of snapshots saved in this run, which needn't be read again. */
  readonly #known = new Map<string, readonly StoreChange[]>();

  constructor(folder: string, files: { objects: ObjectWriter; uploads: Uploads }) {
    this.#folder = folder;
    this.#files = files;
  }

  /**
   * Repairs operations that were interrupted when the process was killed, so that every name refers to a complete state. Called at startup.
   */
  async sweep(): Promise<void> {
    for (const entry of await this.#entries()) {
      const [, name] = EARLIER.exec(entry) ?? [];
      const path = this.#path(entry);
      if (name !== undefined && !(await exists(this.#path(name)))) await rename(path, this.#path(name));
      else if (entry.startsWith('.')) await rm(path, { recursive: true, force: true });
    }
  }

  /** Saves a state. An earlier one with that name is deleted once this one is complete. */
  async save(info: SnapshotInfo, changes: readonly StoreChange[]): Promise<void> {
    const draft = this.#path(`.new-${info.name}`);
    await rm(draft, { recursive: true, force: true });
    await privateFolder(this.#folder);
    try {
      await this.#write(draft, info, changes);
    } catch (error) {
      // If the disk is full, the incomplete copy would keep it full.
      await rm(draft, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
    const earlier = await this.#moveAside(info.name, `.old-${info.name}`);
    await rename(draft, this.#path(info.name));
    await syncFolder(this.#folder);
    this.#known.set(info.name, changes);
    await rm(earlier, { recursive: true, force: true });
  }

  async #write(folder: string, info: SnapshotInfo, changes: readonly StoreChange[]): Promise<void> {
    for (const part of ['', 'objects', 'templates']) await mkdir(join(folder, part), { mode: 0o700 });
    const journal = join(folder, 'service.jsonl');
    await writeInSlices(journal, snapshotLines(SERVICE_FORMAT, entriesOf(changes)));
    await syncFile(journal);
    await this.#files.objects.save(join(folder, 'objects'));
    await this.#files.uploads.save(join(folder, 'templates'));
    await writeFile(join(folder, FACTS), JSON.stringify(info), { mode: 0o600 });
  }

  /** Returns the records of a snapshot. Throws NOT_FOUND if it doesn't exist. */
  async state(name: string): Promise<SavedState> {
    await this.info(name);
    const journal = join(this.#path(name), 'service.jsonl');
    const known = this.#known.get(name);
    if (known !== undefined) return { changes: known, journal };
    const read: StoreChange[] = [];
    await scan({ path: journal, format: SERVICE_FORMAT }, ({ changes }) => {
      for (const change of changes) read.push(change);
    });
    this.#known.set(name, read);
    return { changes: read, journal };
  }

  /** Restores the documents and PDFs of a snapshot. */
  async restoreFiles(name: string): Promise<void> {
    await this.#files.objects.restore(join(this.#path(name), 'objects'));
    await this.#files.uploads.restore(join(this.#path(name), 'templates'));
  }

  /** Returns all snapshots, oldest first. */
  async list(): Promise<SnapshotInfo[]> {
    const all = await Promise.all((await this.#entries()).map((name) => this.#read(name)));
    return all.filter((info) => info !== undefined).sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  }

  /** Deletes a snapshot. Throws NOT_FOUND if it doesn't exist. */
  async remove(name: string): Promise<void> {
    if (!SNAPSHOT_NAME.test(name) || !(await exists(this.#path(name)))) throw notFound('Snapshot');
    await rm(await this.#moveAside(name, `.gone-${name}`), { recursive: true, force: true });
  }

  /** Returns the properties of a snapshot. Throws NOT_FOUND if it doesn't exist. */
  async info(name: string): Promise<SnapshotInfo> {
    const info = await this.#read(name);
    if (info === undefined) throw notFound('Snapshot');
    return info;
  }

  /** Reads the properties of a snapshot. Returns undefined if the folder doesn't contain a complete one. */
  async #read(name: string): Promise<SnapshotInfo | undefined> {
    if (!SNAPSHOT_NAME.test(name)) return undefined;
    const text = await readFile(join(this.#path(name), FACTS), 'utf8').catch(() => '');
    const value = tryParseJson(text);
    if (!isRecord(value)) return undefined;
    return { name, createdAt: String(value.createdAt), envelopes: Number(value.envelopes) };
  }

  /** Renames a snapshot's folder before deletion, so that an interrupted deletion doesn't leave half a snapshot. Returns the new path. */
  async #moveAside(name: string, to: string): Promise<string> {
    this.#known.delete(name);
    const aside = this.#path(to);
    await rm(aside, { recursive: true, force: true });
    if (await exists(this.#path(name))) await rename(this.#path(name), aside);
    return aside;
  }

  #entries(): Promise<string[]> {
    return readdir(this.#folder).catch(() => []);
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

/** Yields an entry of the journal for each change. */
export function* entriesOf(changes: Iterable<StoreChange>): Generator<StoreEntry> {
  for (const change of changes) yield { changes: [change] };
}
