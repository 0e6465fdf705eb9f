import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Draft } from '../../../journal/compaction.ts';
import { compactionEnd, headerOf, scan } from '../../../journal/scan.ts';
import { privateFolder, syncFolder } from '../../../kernel/files/files.ts';
import { isRecord, parseJson } from '../../../kernel/json.ts';
import type { ObjectWriter } from '../../model.ts';
import { notFound } from '../base/errors.ts';
import { type Change, SERVICE_FORMAT } from './records.ts';
import type { Uploads } from './uploads.ts';

/** A kept state, as it is listed. */
export interface SnapshotInfo {
  name: string;
  createdAt: string;
  envelopes: number;
}

/** The records of a state, and the journal that says the same. */
export interface KeptState {
  changes: readonly Change[];
  journal: string;
}

/** How a snapshot may be called: its name is that of a folder. */
export const SNAPSHOT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** States that were kept under a name: a folder for each, with the records, the papers and the uploaded PDFs. */
export class Snapshots {
  readonly #folder: string;
  readonly #objects: ObjectWriter;
  readonly #uploads: Uploads;
  /** Those of this run are not read back. */
  readonly #known = new Map<string, readonly Change[]>();

  constructor(folder: string, facts: { objects: ObjectWriter; uploads: Uploads }) {
    this.#folder = folder;
    this.#objects = facts.objects;
    this.#uploads = facts.uploads;
  }

  /** Keeps a state; an earlier one of that name goes once this one is whole. */
  async save(info: SnapshotInfo, changes: readonly Change[]): Promise<void> {
    const draft = join(this.#folder, `.${info.name}`);
    await rm(draft, { recursive: true, force: true });
    await privateFolder(this.#folder);
    for (const part of ['', 'objects', 'templates']) await mkdir(join(draft, part), { mode: 0o700 });
    const file = await Draft.at(join(draft, 'service.jsonl'));
    try {
      await file.write([headerOf(SERVICE_FORMAT)]);
      await file.write(asEntries(changes));
      await file.write([compactionEnd(SERVICE_FORMAT)]);
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#objects.save(join(draft, 'objects'));
    await this.#uploads.save(join(draft, 'templates'));
    await writeFile(join(draft, 'snapshot.json'), JSON.stringify(info), { mode: 0o600 });
    await this.#forget(info.name);
    await rename(draft, join(this.#folder, info.name));
    await syncFolder(this.#folder);
    this.#known.set(info.name, changes);
  }

  /** The records of a snapshot. NOT_FOUND when there is none of that name. */
  async state(name: string): Promise<KeptState> {
    await this.info(name);
    const journal = join(this.#folder, name, 'service.jsonl');
    const known = this.#known.get(name);
    if (known !== undefined) return { changes: known, journal };
    const read: Change[] = [];
    await scan({ path: journal, format: SERVICE_FORMAT }, ({ changes }) => read.push(...changes));
    this.#known.set(name, read);
    return { changes: read, journal };
  }

  /** Brings papers and PDFs back as they were. */
  async restoreFiles(name: string): Promise<void> {
    await this.#objects.restore(join(this.#folder, name, 'objects'));
    await this.#uploads.restore(join(this.#folder, name, 'templates'));
  }

  /** The oldest first. */
  async list(): Promise<SnapshotInfo[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const all = await Promise.all(
      names.filter((name) => SNAPSHOT_NAME.test(name)).map((name) => this.info(name)),
    );
    return all.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  }

  async remove(name: string): Promise<void> {
    await this.info(name);
    await this.#forget(name);
  }

  /** NOT_FOUND when there is none of that name. */
  async info(name: string): Promise<SnapshotInfo> {
    if (!SNAPSHOT_NAME.test(name)) throw notFound('Snapshot');
    const text = await readFile(join(this.#folder, name, 'snapshot.json'), 'utf8').catch(() => '');
    const value = text === '' ? undefined : parseJson(text);
    if (!isRecord(value)) throw notFound('Snapshot');
    return { name, createdAt: String(value.createdAt), envelopes: Number(value.envelopes) };
  }

  async #forget(name: string): Promise<void> {
    this.#known.delete(name);
    const path = join(this.#folder, name);
    if ((await stat(path).catch(() => undefined)) === undefined) return;
    await rm(path, { recursive: true, force: true });
  }
}

function* asEntries(changes: readonly Change[]) {
  for (const change of changes) yield { changes: [change] };
}
