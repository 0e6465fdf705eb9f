import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { shortDigest } from '../digest.ts';
import { isLocked, lockFile } from './lock.ts';
import { readRegular } from './regular-file.ts';

/** A folder in the system's folder for temporary files, and all in it, until it is removed. */
export interface TemporaryFolder {
  path: string;
  remove(): Promise<void>;
}

/** Names the process that a folder belongs to. One of another machine or container can't be told to live or not. */
const ownerIn = (folder: string) => join(folder, `.owner-${shortDigest(hostname())}.lock`);

/** Makes a folder whose name begins so. Those that killed processes have left are removed. */
export async function temporaryFolder(prefix: string, parent = tmpdir()): Promise<TemporaryFolder> {
  await removeLeft(prefix, parent);
  const path = await mkdtemp(join(parent, prefix));
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

/** Only what names its owner is looked at: anybody may call a folder so. */
async function removeLeft(prefix: string, parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const path = join(parent, name);
    if (!(await isOurs(path)) || (await isLocked(ownerIn(path)))) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** In a folder of somebody else a link could lead the removal elsewhere. */
async function isOurs(path: string): Promise<boolean> {
  try {
    const stat = await lstat(path);
    const isPrivate =
      process.platform === 'win32' || (stat.uid === process.getuid?.() && (stat.mode & 0o77) === 0);
    return stat.isDirectory() && isPrivate && (await readRegular(ownerIn(path))) !== undefined;
  } catch {
    return false;
  }
}
