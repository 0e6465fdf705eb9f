import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, realpath, rm, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { shortDigest } from '../digest.ts';
import { codeOf } from '../errors.ts';
import { retryWhileInUse } from './files.ts';
import { announce, isPresent, processOf, type StatReader } from './presence.ts';
import { readRegular } from './regular-file.ts';

export interface LockOptions {
  /** How long to wait for another process's lock, in ms (default 0). */
  waitMs?: number;
  /** Ends the wait, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  clock?: Clock;
  /** Reads a process's /proc entry. Tests replace it. */
  read?: StatReader;
}

const POLL_MS = 20;
/** How long a lock may be empty while its owner writes it. */
const WRITE_TIMEOUT_MS = 1_000;
/** How long another process may take to remove the lock of a killed process. */
const CLEANUP_TIMEOUT_MS = 10_000;
/** Error codes of file systems without hard links. */
const WITHOUT_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR'];

/**
 * Acquires the lock file `file`, whose folder must exist. The lock names its owner. Unlike a lock with a timeout, the lock of a
 * killed process becomes free immediately, and no clock is involved. Returns a function that releases the lock.
 *
 * ```ts
 * const release = await lockFile('state/run.lock', (pid) => new Error(`Process ${pid} has it.`));
 * await release();
 * ```
 * @throws the error that `taken` returns for the process id of a running owner.
 */
export async function lockFile(
  file: string,
  taken: (pid: string) => Error,
  options: LockOptions = {},
): Promise<() => Promise<void>> {
  const { waitMs = 0, signal, clock = systemClock, read } = options;
  const path = join(await realpath(dirname(file)), basename(file));
  const presence = await announce(read);
  const claim = `${path}.${randomUUID()}`;
  try {
    await writeFile(claim, presence.mark, { mode: 0o600 });
    let waited = 0;
    while (!(await placed(claim, path))) {
      const owner = await ownerOf(path);
      if (owner === undefined || (await clearIfLeft(path, owner, options))) continue;
      if (waited >= waitMs) throw taken(String(processOf(owner) ?? ''));
      await clock.sleep(POLL_MS, signal);
      waited += POLL_MS;
    }
  } catch (error) {
    await presence.end();
    throw error;
  } finally {
    await rm(claim, { force: true }).catch(() => undefined);
  }
  return async () => {
    await retryWhileInUse(() => unlink(path)).catch(() => undefined);
    await presence.end();
  };
}

/** Returns true if a running process holds the lock file. */
export async function isLocked(file: string): Promise<boolean> {
  const owner = await ownerOf(file).catch(() => undefined);
  return owner !== undefined && isPresent(owner);
}

/** Creates the lock. Returns false if it exists. */
async function placed(claim: string, path: string): Promise<boolean> {
  try {
    await link(claim, path).catch((error: unknown) => {
      if (!WITHOUT_LINKS.includes(codeOf(error) ?? '')) throw error;
      return copyFile(claim, path, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Reads the lock file. Returns undefined if it no longer exists. A named pipe is not a lock, and reading it would block. */
function ownerOf(path: string): Promise<string | undefined> {
  return readRegular(path);
}

/**
 * Removes the lock of a killed process. Returns false if its owner is running. This requires a second lock, because another
 * process could create a new lock between the check and the removal.
 */
async function clearIfLeft(path: string, owner: string, options: LockOptions): Promise<boolean> {
  if (processOf(owner) === undefined) await (options.clock ?? systemClock).sleep(WRITE_TIMEOUT_MS);
  else if (await isPresent(owner, options.read)) return false;
  const clearing = { ...options, waitMs: CLEANUP_TIMEOUT_MS };
  const stuck = (pid: string) => new Error(`process ${pid} takes too long to clear ${path}`);
  const release = await lockFile(`${path}.${shortDigest(owner)}`, stuck, clearing);
  try {
    if ((await ownerOf(path)) === owner) await unlink(path);
  } finally {
    await release();
  }
  return true;
}
