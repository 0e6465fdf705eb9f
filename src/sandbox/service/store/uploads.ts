import { copyFile, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { privateFolder, syncFolder, writeFileAtomic } from '../../../kernel/files/files.ts';
import { ifExists } from '../../../kernel/files/regular-file.ts';

/** The PDFs of uploaded templates, each a file in the sandbox's folder. */
export class Uploads {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Stores a PDF. Resolves when it is durable. */
  async put(templateId: string, pdf: Uint8Array): Promise<void> {
    await privateFolder(this.#folder);
    await writeFileAtomic(this.#path(templateId), pdf);
    await syncFolder(dirname(this.#folder));
  }

  async get(templateId: string): Promise<Uint8Array> {
    return new Uint8Array(await readFile(this.#path(templateId)));
  }

  /** Deletes files that belong to no template. A crash can leave a file whose template was never stored. Called at startup. */
  async sweep(templateIds: Iterable<string>): Promise<void> {
    const kept = new Set([...templateIds].map((id) => `${id}.pdf`));
    await this.#remove((file) => !kept.has(file));
  }

  /** Deletes all files except one that is being written. */
  async clear(): Promise<void> {
    await this.#remove((file) => file.endsWith('.pdf'));
  }

  async save(folder: string): Promise<void> {
    for (const file of await this.#files()) await copyFile(join(this.#folder, file), join(folder, file));
  }

  /** Restores exactly the files that `save` copied to a folder. */
  async restore(folder: string): Promise<void> {
    await this.clear();
    const files = await readdir(folder);
    if (files.length > 0) await privateFolder(this.#folder);
    for (const file of files) await copyFile(join(folder, file), join(this.#folder, file));
  }

  async #remove(isSelected: (file: string) => boolean): Promise<void> {
    for (const file of (await this.#files()).filter(isSelected))
      await rm(join(this.#folder, file), { force: true });
  }

  async #files(): Promise<string[]> {
    return (await ifExists(readdir(this.#folder))) ?? [];
  }

  #path(templateId: string): string {
    return join(this.#folder, `${templateId}.pdf`);
  }
}
