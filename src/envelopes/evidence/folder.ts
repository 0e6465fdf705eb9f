import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { localError } from '../../documents/archive/local-error.ts';
import { MANIFEST_NAME, updateManifest } from '../../documents/archive/manifest.ts';
import { UsageError } from '../../kernel/errors.ts';
import { writeFileAtomic } from '../../kernel/files/files.ts';
import { ifExists } from '../../kernel/files/regular-file.ts';

/** @throws UsageError if the folder contains anything: evidence is never mixed with other files. Files in `except` don't count. */
export async function requireEmptyFolder(dir: string, except: readonly string[] = []): Promise<void> {
  // A file in place of the folder is reported when the folder is opened.
  const names = (await ifExists(readdir(dir)).catch(() => undefined)) ?? [];
  if (names.every((name) => except.includes(name))) return;
  throw new UsageError(`${dir} is not empty. Nothing was written.`, {
    hint: 'Use a new or empty folder with --dir.',
  });
}

/** The folder with an envelope's evidence, and the hashes of the files in it. */
export class EvidenceFolder {
  readonly #dir: string;
  /** Serializes a value as JSON that is safe to print, because people read these files on a terminal. */
  readonly #jsonText: (value: unknown, space?: number) => string;
  readonly #files = new Map<string, string>();

  constructor(dir: string, jsonText: (value: unknown, space?: number) => string) {
    this.#dir = dir;
    this.#jsonText = jsonText;
  }

  /** The files that the list will contain, with their hashes. */
  get files(): ReadonlyMap<string, string> {
    return this.#files;
  }

  /** Adds an existing file to the list. */
  list(name: string, sha256: string): void {
    this.#files.set(name, sha256);
  }

  /** Writes a file. @throws StorageError STORAGE_LOCAL. */
  async write(name: string, content: string): Promise<void> {
    const path = join(this.#dir, name);
    try {
      await writeFileAtomic(path, content);
    } catch (error) {
      throw localError(error, path);
    }
    this.list(name, hash('sha256', content));
  }

  async writeJson(name: string, value: unknown): Promise<void> {
    await this.write(name, `${this.#jsonText(value, 2)}\n`);
  }

  async writeLines(name: string, values: readonly unknown[]): Promise<void> {
    await this.write(name, values.map((value) => `${this.#jsonText(value)}\n`).join(''));
  }

  /** Writes the list of hashes. @throws StorageError STORAGE_LOCAL. */
  async close(): Promise<void> {
    try {
      await updateManifest(this.#dir, this.#files);
    } catch (error) {
      throw localError(error, join(this.#dir, MANIFEST_NAME));
    }
  }
}
