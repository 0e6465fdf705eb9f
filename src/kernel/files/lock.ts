import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, realpath, rm, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { shortDigest } from '../digest.ts';
import { codeOf } from '../errors.ts';
import { retryWhileInUse } from './files.ts';
import { identifyProcess, isAlive, isOnOtherMachine, pidOf } from './process-identity.ts';
import { readRegularBytes } from './regular-file.ts';

export interface LockOptions {
  /** How long to wait for another process's lock, in ms (default 0). */
  waitMs?: number;
  /** Ends the wait, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  clock?: Clock;
}

const POLL_MS = 20;
/** How long a lock may be empty while its owner writes it. */
const WRITE_TIMEOUT_MS = 1_000;
/** How long another process may take to remove the lock of a killed process. */
const CLEANUP_TIMEOUT_MS = 10_000;
const MAX_OWNER_BYTES = 4_096;
/** Error codes of file systems without hard links. */
const WITHOUT_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR'];

/**
 * Acquires the lock file `file`, whose folder must exist. The lock names its owner. Unlike a lock with a timeout, the lock of a
 * killed process becomes free immediately, and no clock is involved. The lock of a process on another machine or in another container
 * is never removed, because nothing here shows whether it is running. Returns a function that releases the lock.
 *
 * ```ts
 * const release = await lockFile('state/run.lock', (pid) => new Error(`Process ${pid} has it.`));
 * await release();
 * ```
 * @throws the error that `heldBy` returns for the process ID of a running owner, in words that can follow "process".
 */
export async function lockFile(
  file: string,
  heldBy: (pid: string) => Error,
  options: LockOptions = {},
): Promise<() => Promise<void>> {
  const { waitMs = 0, signal, clock = systemClock } = options;
  const path = join(await realpath(dirname(file)), basename(file));
  let waited = 0;
  while (!(await createLock(path))) {
    const owner = await readOwner(path);
    if (owner === undefined || (await removeIfStale(path, owner, options))) continue;
    if (waited >= waitMs) throw heldBy(nameOf(owner, path));
    await clock.sleep(POLL_MS, signal);
    waited += POLL_MS;
  }
  return async () => {
    await retryWhileInUse(() => unlink(path)).catch(() => undefined);
  };
}

/** Returns the process ID of an owner, and how to free its lock if only the user can know whether it is still running. */
function nameOf(owner: string, path: string): string {
  const pid = String(pidOf(owner) ?? '');
  return isOnOtherMachine(owner)
    ? `${pid} of another machine or container; if it has ended, delete ${path}`
    : pid;
}

/** Returns the text of a lock, which is never a link. It is short, but in a shared folder, others may have put anything there. */
async function readOwner(path: string): Promise<string | undefined> {
  const bytes = await readRegularBytes(path, { flags: constants.O_NOFOLLOW, maxBytes: MAX_OWNER_BYTES });
  return bytes?.toString('utf8');
}

export async function isLocked(file: string): Promise<boolean> {
  const owner = await readOwner(file).catch(() => undefined);
  return owner !== undefined && isAlive(owner);
}

/**
 * Creates the lock, with its owner from the start. Returns false if it exists. While it waits, it has no other file, because a
 * process that is killed would leave it behind.
 */
async function createLock(path: string): Promise<boolean> {
  if ((await readOwner(path)) !== undefined) return false;
  const ownFile = `${path}.${randomUUID()}`;
  try {
    await writeFile(ownFile, identifyProcess(), { mode: 0o600 });
    await link(ownFile, path).catch((error: unknown) => {
      if (!WITHOUT_LINKS.includes(codeOf(error) ?? '')) throw error;
      return copyFile(ownFile, path, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(ownFile, { force: true }).catch(() => undefined);
  }
}

/**
 * Removes the lock of a killed process. Returns false if its owner is running. This requires a second lock, because another
 * process could create a new lock between the check and the removal.
 */
async function removeIfStale(path: string, owner: string, options: LockOptions): Promise<boolean> {
  if (pidOf(owner) === undefined) await (options.clock ?? systemClock).sleep(WRITE_TIMEOUT_MS);
  else if (isAlive(owner)) return false;
  const cleanupOptions = { ...options, waitMs: CLEANUP_TIMEOUT_MS };
  const timeoutError = (pid: string) => new Error(`process ${pid} is taking too long to release ${path}`);
  const release = await lockFile(`${path}.${shortDigest(owner)}`, timeoutError, cleanupOptions);
  try {
    if ((await readOwner(path)) === owner) await unlink(path);
  } finally {
    await release();
  }
  return true;
}
