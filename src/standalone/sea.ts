import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getRawAsset } from 'node:sea';
import { makeFolder } from '../kernel/files/folder.ts';
import { cacheDir } from '../kernel/files/paths.ts';
import { isRecord, parseJson } from '../kernel/json.ts';

/*
 * Starts the standalone executable. Node can load modules, threads, and WebAssembly only from files, so the first run unpacks the
 * package, which is then started as if npm had installed it.
 */
function bytes(name: string): Uint8Array {
  const raw = getRawAsset(name);
  return typeof raw === 'string' ? new TextEncoder().encode(raw) : new Uint8Array(raw);
}

/** The list of contents that scripts/standalone.js writes. */
const contents = parseJson(Buffer.from(bytes('contents.json')).toString('utf8'));
const { id, files } = isRecord(contents) ? contents : {};
if (typeof id !== 'string' || !Array.isArray(files)) throw new Error('the executable is damaged');
const names = files.filter((name) => typeof name === 'string');
createRequire(join(unpacked(id, names, bytes), 'bin/run.js'))('./run.js');

/**
 * Returns the folder with the executable's files, in the user's cache folder. Its name changes with their contents. The first run
 * writes them.
 */
function unpacked(id: string, names: readonly string[], bytes: (name: string) => Uint8Array): string {
  const cache = cacheDir();
  const write = (fresh: string) => {
    for (const name of names) {
      mkdirSync(dirname(join(fresh, name)), { recursive: true });
      writeFileSync(join(fresh, name), bytes(name));
    }
    return fresh;
  };
  try {
    if (cache === undefined) throw new Error('no cache folder');
    const folder = join(cache, `standalone-${id}`);
    if (existsSync(folder)) return folder;
    makeFolder(cache, 0o700);
    const fresh = write(mkdtempSync(`${folder}.`));
    try {
      renameSync(fresh, folder);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      // Another process has already written them.
      if (!existsSync(folder)) throw error;
    }
    return folder;
  } catch {
    // Without a usable cache folder, the files are unpacked for this run only.
    const own = write(mkdtempSync(join(tmpdir(), 'esign-standalone-')));
    process.once('exit', () => rmSync(own, { recursive: true, force: true }));
    return own;
  }
}
