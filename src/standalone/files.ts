import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '../kernel/folder.ts';
import { cacheDir } from '../kernel/paths.ts';

/** What the executable carries, by name. */
export interface Assets {
  bytes(name: string): Uint8Array;
  text(name: string): string;
  has(name: string): boolean;
}

/**
 * The files of the executable that must be files: fonts, WebAssembly, web pages, the manifest. They are unpacked into the
 * user's cache folder by the first command that needs one; its name changes with their contents.
 */
export class Files {
  private readonly folder: string;
  private readonly assets: Assets;
  private readonly names: readonly string[];
  private unpacked: string | undefined;

  constructor(assets: Assets, id: string, names: readonly string[]) {
    this.assets = assets;
    this.names = names;
    this.folder = join(cacheDir(), `standalone-${id}`);
  }

  /** Where the files are or will be. */
  get root(): string {
    return this.unpacked ?? this.folder;
  }

  /** Sees to it that they are there, and returns their folder. */
  unpack(): string {
    if (this.unpacked !== undefined) return this.unpacked;
    this.unpacked = existsSync(this.folder) ? this.folder : this.unpackNow();
    return this.unpacked;
  }

  private unpackNow(): string {
    try {
      makeFolder(dirname(this.folder), 0o700);
      const fresh = this.write(mkdtempSync(`${this.folder}.`));
      try {
        renameSync(fresh, this.folder);
      } catch (error) {
        rmSync(fresh, { recursive: true, force: true });
        // Another process was quicker.
        if (!existsSync(this.folder)) throw error;
      }
      return this.folder;
    } catch {
      // No cache folder to be had: for this run alone.
      const own = this.write(mkdtempSync(join(tmpdir(), 'esign-standalone-')));
      process.once('exit', () => rmSync(own, { recursive: true, force: true }));
      return own;
    }
  }

  private write(folder: string): string {
    for (const name of this.names) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, this.assets.bytes(`files/${name}`));
    }
    return folder;
  }
}
