import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '../kernel/files/folder.ts';
import { cacheDir } from '../kernel/files/paths.ts';

/**
 * The folder with the files of the executable, in the user's cache folder; its name changes with their contents. The
 * first run writes them.
 */
export function unpacked(id: string, names: readonly string[], bytes: (name: string) => Uint8Array): string {
  const folder = join(cacheDir(), `standalone-${id}`);
  if (existsSync(folder)) return folder;
  const write = (fresh: string) => {
    for (const name of names) {
      mkdirSync(dirname(join(fresh, name)), { recursive: true });
      writeFileSync(join(fresh, name), bytes(name));
    }
    return fresh;
  };
  try {
    makeFolder(dirname(folder), 0o700);
    const fresh = write(mkdtempSync(`${folder}.`));
    try {
      renameSync(fresh, folder);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      // Another process was quicker.
      if (!existsSync(folder)) throw error;
    }
    return folder;
  } catch {
    // No cache folder to be had: for this run alone.
    const own = write(mkdtempSync(join(tmpdir(), 'esign-standalone-')));
    process.once('exit', () => rmSync(own, { recursive: true, force: true }));
    return own;
  }
}
