import { randomBytes } from 'node:crypto';
import { chmod, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { codeOf } from '../errors.ts';
import { makeFolder } from './folder.ts';

/** The system that files are replaced on; a test can stand in for Windows. */
export interface System {
  platform: NodeJS.Platform;
  clock: Clock;
  rename: (from: string, to: string) => Promise<void>;
}
const SYSTEM: System = { platform: process.platform, clock: systemClock, rename };
/** What Windows says of a file that an editor or a virus scanner has open for a moment. */
const IN_USE = ['EPERM', 'EACCES', 'EBUSY'];
const PATIENCE_MS = 5_000;
const LONGEST_PAUSE_MS = 200;

/**
 * Replaces a file so that a reader sees the old text or the new one, never a part:
 * a temporary file beside it, fsync, rename, fsync of the folder.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
  system: System = SYSTEM,
): Promise<void> {
  const write = async (draft: string) => {
    const file = await open(draft, 'wx', mode);
    try {
      await file.writeFile(content);
    } finally {
      await file.close();
    }
  };
  await replaceAtomic(path, write, system);
}

/** The same for a file that something else writes: `write` is handed the path of the temporary one. */
export async function replaceAtomic(
  path: string,
  write: (draft: string) => Promise<void> | void,
  system: System = SYSTEM,
): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await write(draft);
    await syncFile(draft);
    await untilFree(() => system.rename(draft, path), system);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Tries again for some seconds what another program stands in the way of, on Windows. */
export async function untilFree<T>(work: () => Promise<T>, system: System = SYSTEM): Promise<T> {
  let waited = 0;
  for (let pause = 10; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      const isInUse = system.platform === 'win32' && IN_USE.includes(codeOf(error) ?? '');
      if (!isInUse || waited >= PATIENCE_MS) throw error;
      await system.clock.sleep(pause);
      waited += pause;
    }
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a rename inside the folder durable; a no-op where folders cannot be opened (Windows). */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** A folder that only its owner can enter, made with its parents when missing. */
export async function privateFolder(path: string): Promise<void> {
  const isNew = makeFolder(path, 0o700);
  if (isNew && process.platform !== 'win32') await chmod(path, 0o700);
}
