import { randomBytes } from 'node:crypto';
import { chmod, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type BackOff, backOff } from '../async/back-off.ts';
import { type Clock, systemClock } from '../clock.ts';
import { codeOf } from '../errors.ts';
import { makeFolder } from './folder.ts';

/** The operating system's functions for replacing files. Tests pass their own to simulate Windows. */
export interface FileSystemFunctions {
  platform: NodeJS.Platform;
  clock: Clock;
  rename: (from: string, to: string) => Promise<void>;
}
const SYSTEM: FileSystemFunctions = { platform: process.platform, clock: systemClock, rename };
/** Error codes on Windows for a file that an editor or a virus scanner has briefly opened. */
const IN_USE = ['EPERM', 'EACCES', 'EBUSY'];
const RETRY_TIMEOUT_MS = 5_000;
const RETRY_DELAY: BackOff = { firstMs: 10, longestMs: 200 };

/**
 * Replaces a file so that a reader sees either the old or the new text, never a part of it. Writes a temporary file next to it,
 * followed by fsync, rename, and fsync of the folder.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
  system: FileSystemFunctions = SYSTEM,
): Promise<void> {
  await replaceAtomic(path, (draft) => writeFile(draft, content, { flag: 'wx', mode }), system);
}

/** Replaces a file in the same way. `write` writes it, and receives the path of the temporary file. */
export async function replaceAtomic(
  path: string,
  write: (draft: string) => Promise<void> | void,
  system: FileSystemFunctions = SYSTEM,
): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await write(draft);
    await syncFile(draft);
    await retryWhileInUse(() => system.rename(draft, path), system);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Runs `work`. On Windows, retries for some seconds while another program has the file open. */
export async function retryWhileInUse<T>(
  work: () => Promise<T>,
  system: FileSystemFunctions = SYSTEM,
): Promise<T> {
  let waited = 0;
  for (let failures = 0; ; failures++) {
    try {
      return await work();
    } catch (error) {
      const isBusy = system.platform === 'win32' && IN_USE.includes(codeOf(error) ?? '');
      if (!isBusy || waited >= RETRY_TIMEOUT_MS) throw error;
      const pause = backOff(failures, RETRY_DELAY);
      await system.clock.sleep(pause);
      waited += pause;
    }
  }
}

/** Makes the content of a file durable. */
async function syncFile(path: string, flags = 'r+'): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a rename in the folder durable. Does nothing on Windows, where folders can't be opened. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform !== 'win32') await syncFile(path, 'r');
}

/** Creates a folder and its parents. Only the owner can access it. */
export async function makePrivateFolder(path: string): Promise<void> {
  const isNew = makeFolder(path, 0o700);
  if (isNew && process.platform !== 'win32') await chmod(path, 0o700);
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
