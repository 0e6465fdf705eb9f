import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { shortDigest } from '../digest.ts';
import { UsageError } from '../errors.ts';
import { writeReason } from './disk-reason.ts';
import { isLocked, lockFile } from './lock.ts';
import { readRegular } from './regular-file.ts';

export interface TemporaryFolder {
  path: string;
  remove(): Promise<void>;
}

/**
 * Returns the file that identifies the process that owns a folder. The name includes the machine, because processes on other
 * machines or in other containers can't be checked.
 */
const ownerIn = (folder: string) => join(folder, `.owner-${shortDigest(hostname())}.lock`);

/** Creates an empty temporary folder. @throws UsageError if the system's temporary folder is missing or not writable */
export async function createTemporary(prefix: string, parent = tmpdir()): Promise<string> {
  const path = join(parent, prefix);
  return mkdtemp(path).catch((error: unknown) => {
    throw new UsageError(`Can't create ${path}…: ${writeReason(error)}.`, {
      cause: error,
      hint: `Set ${process.platform === 'win32' ? 'TEMP' : 'TMPDIR'} to a folder that can be written.`,
    });
  });
}

/** Creates a temporary folder with this prefix, and removes those of killed processes. */
export async function makeTemporaryFolder(prefix: string, parent = tmpdir()): Promise<TemporaryFolder> {
  await removeStaleFolders(prefix, parent);
  const path = await createTemporary(prefix, parent);
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    const release = await lockFile(ownerIn(path), () => new Error(`${path} belongs to another process`));
    return {
      path,
      remove: async () => {
        await remove();
        await release();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Removes the folders of killed processes. Folders without an owner file are left alone, because anyone can create one with this
 * prefix.
 */
async function removeStaleFolders(prefix: string, parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const path = join(parent, name);
    if (!(await isOwnedByUser(path)) || (await isLocked(ownerIn(path)))) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Returns true if the folder belongs to this user. In another user's folder, a link could redirect the removal. */
async function isOwnedByUser(path: string): Promise<boolean> {
  try {
    const stat = await lstat(path);
    const isPrivate =
      process.platform === 'win32' || (stat.uid === process.getuid?.() && (stat.mode & 0o77) === 0);
    return stat.isDirectory() && isPrivate && (await readRegular(ownerIn(path))) !== undefined;
  } catch {
    return false;
  }
}
