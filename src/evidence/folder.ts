import { hash } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { localError } from '../documents/archive/local-error.ts';
import { MANIFEST_NAME, parseLine, readManifest, updateManifest } from '../documents/archive/manifest.ts';
import { StorageError, UsageError } from '../kernel/errors.ts';
import { writeFileAtomic } from '../kernel/files/files.ts';
import { makeFolder } from '../kernel/files/folder.ts';
import { readRegular } from '../kernel/files/regular-file.ts';
import { parseJson, tryParseJson } from '../kernel/json.ts';

const ENVELOPE = 'envelope.json';
const COLLECTION = 'collection.json';
const idSchema = z.object({ id: z.string() });
const collectionSchema = z.object({
  /** The time by this machine's clock, ISO 8601. */
  collectedAt: z.string(),
  /** The version of esign. */
  version: z.string(),
  baseUrl: z.string(),
  /** The account in the storage keys; null if absent. */
  account: z.nullable(z.string()),
});

/** When, with which version, and from which service and account the evidence was collected. */
export type Collection = z.infer<typeof collectionSchema>;

export interface FolderOptions {
  /** Whether to ignore entries of an earlier run. */
  force: boolean;
  /** Serializes a value as JSON that is safe to print. */
  jsonText: (value: unknown, space?: number) => string;
}

/** The folder with an envelope's evidence. Unchanged files aren't rewritten. */
export class EvidenceFolder {
  readonly #dir: string;
  readonly #options: FolderOptions;
  /** The hashes of an earlier run's files, from the list of hashes. */
  readonly #before: ReadonlyMap<string, string>;
  readonly #listed = new Map<string, string>();

  private constructor(dir: string, options: FolderOptions, before: ReadonlyMap<string, string>) {
    this.#dir = dir;
    this.#options = options;
    this.#before = before;
  }

  /**
   * Opens the folder, which is created if missing.
   * @throws UsageError if it contains evidence for another envelope.
   */
  static async open(dir: string, envelopeId: string, options: FolderOptions): Promise<EvidenceFolder> {
    try {
      makeFolder(dir);
      const text = await readRegular(join(dir, ENVELOPE));
      const found = text === undefined ? envelopeId : idSchema.safeParse(tryParseJson(text)).data?.id;
      if (found !== envelopeId) throw otherEnvelopeError(dir, found);
      const lines = (await readManifest(dir)).map(parseLine).filter((line) => line !== undefined);
      return new EvidenceFolder(dir, options, new Map(lines.map(({ name, sha256 }) => [name, sha256])));
    } catch (error) {
      throw localError(error, dir);
    }
  }

  /** The files that the list will contain, with their hashes. */
  get files(): ReadonlyMap<string, string> {
    return this.#listed;
  }

  /** Adds an existing file to the list. */
  list(name: string, sha256: string): void {
    this.#listed.set(name, sha256);
  }

  /** Writes a file. @throws StorageError STORAGE_LOCAL. */
  async write(name: string, content: string): Promise<void> {
    const path = join(this.#dir, name);
    try {
      if ((await readRegular(path)) !== content) await writeFileAtomic(path, content);
    } catch (error) {
      throw localError(error, path);
    }
    this.list(name, hash('sha256', content));
  }

  async writeJson(name: string, value: unknown): Promise<void> {
    await this.write(name, `${this.#options.jsonText(value, 2)}\n`);
  }

  /**
   * Returns the current entries, plus those of an earlier run that are no longer stored elsewhere.
   * @throws StorageError if the file was changed since that run.
   */
  async withEarlier<T>(
    name: string,
    now: readonly T[],
    collection: { schema: z.ZodMiniType<T>; keyOf: (one: T) => string; order: (one: T) => string },
  ): Promise<T[]> {
    const { schema, keyOf, order } = collection;
    const all = new Map<string, T>();
    for (const value of await this.#linesOf(name, new Set(now.map((one) => this.#options.jsonText(one))))) {
      const one = schema.safeParse(value).data;
      if (one === undefined) throw this.#foreignFileError(name);
      all.set(keyOf(one), one);
    }
    for (const one of now) all.set(keyOf(one), one);
    return [...all.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
  }

  /**
   * Writes and returns when and how the evidence was collected. The values of the first run are kept as long as nothing else in the folder
   * changes, so that a second run writes the same bytes. Call it after everything else is listed.
   */
  async collection(now: Collection): Promise<Collection> {
    const isSame = [...this.#listed].every(([name, sha256]) => this.#before.get(name) === sha256);
    const text = (await readRegular(join(this.#dir, COLLECTION)).catch(() => undefined)) ?? '';
    const isOwn = isSame && this.#before.get(COLLECTION) === hash('sha256', text);
    const kept = isOwn ? collectionSchema.safeParse(parseJson(text)).data : undefined;
    const collection = kept?.baseUrl === now.baseUrl && kept.account === now.account ? kept : now;
    await this.writeJson(COLLECTION, collection);
    return collection;
  }

  async writeLines(name: string, values: readonly unknown[]): Promise<void> {
    await this.write(name, values.map((value) => `${this.#options.jsonText(value)}\n`).join(''));
  }

  /** Writes the list of hashes. @throws StorageError STORAGE_LOCAL. */
  async close(): Promise<void> {
    try {
      await updateManifest(this.#dir, this.#listed);
    } catch (error) {
      throw localError(error, join(this.#dir, MANIFEST_NAME));
    }
  }

  /**
   * Returns the entries in an earlier run's file. A run that was killed left no list, so its file is accepted if all its lines are current
   * entries.
   */
  async #linesOf(name: string, known: ReadonlySet<string>): Promise<unknown[]> {
    const path = join(this.#dir, name);
    const text = await readRegular(path).catch((error: unknown) => {
      throw localError(error, path);
    });
    if (text === undefined) return [];
    const lines = text.split('\n').filter((line) => line !== '');
    const isOwn = this.#before.get(name) === hash('sha256', text) || lines.every((line) => known.has(line));
    if (isOwn) return lines.map(parseJson);
    if (this.#options.force) return [];
    throw this.#foreignFileError(name);
  }

  #foreignFileError(name: string): StorageError {
    const path = join(this.#dir, name);
    return new StorageError(
      'STORAGE_LOCAL',
      `${path} has changed since esign wrote it. It was not overwritten.`,
      {
        hint: 'Use a different --dir, or --force to overwrite it with the data on this machine.',
      },
    );
  }
}

function otherEnvelopeError(dir: string, id: string | undefined): UsageError {
  const what = id === undefined ? `an ${ENVELOPE} that esign didn't write` : `the evidence for ${id}`;
  return new UsageError(`${dir} contains ${what}. Nothing was changed.`, { hint: 'Use a different --dir.' });
}
