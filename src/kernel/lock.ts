import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readFile, realpath, rename, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from './errors.ts';

/** Locks held by this very process, whose own process id says nothing. */
const held = new Set<string>();

/**
 * Takes the lock file at `file`, whose folder must exist; it names the process. Unlike a lock with a time-out, that of
 * a killed process is free at once. Returns the release.
 * @throws what `taken` makes of the process id of a living owner.
 */
export async function lockFile(file: string, taken: (pid: string) => Error): Promise<() => Promise<void>> {
  const path = join(await realpath(dirname(file)), basename(file));
  const mine = processMark(process.pid);
  const claim = `${path}.${randomUUID()}`;
  await writeFile(claim, mine, { mode: 0o600 });
  try {
    while (!(await linked(claim, path))) await clearStale(path, taken);
  } finally {
    await unlink(claim);
  }
  held.add(path);
  return async () => {
    held.delete(path);
    await unlink(path).catch(() => undefined);
  };
}

/** True when a living process holds the lock file. */
export async function isLocked(file: string): Promise<boolean> {
  const owner = await readFile(file, 'utf8').catch(() => undefined);
  return owner !== undefined && isAlive(owner, file);
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Takes a dead process's lock away, or throws. Renaming first shows whether someone was faster meanwhile. */
async function clearStale(path: string, taken: (pid: string) => Error): Promise<void> {
  const owner = await readFile(path, 'utf8').catch(() => undefined);
  if (owner === undefined) return;
  if (isAlive(owner, path)) throw taken(owner.split(' ')[0] ?? '');
  const aside = `${path}.${randomUUID()}`;
  const moved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  if ((await readFile(aside, 'utf8')) !== owner) await linked(aside, path);
  await unlink(aside);
}

function isAlive(owner: string, path: string): boolean {
  const pid = Number(owner.split(' ')[0]);
  if (!Number.isInteger(pid) || pid <= 0) return false;
  // Where the system tells when a process started, our own mark is ours; else only what we know we hold.
  if (pid === process.pid) return owner === `${pid} ` ? held.has(path) : owner === processMark(pid);
  try {
    process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
  return processMark(pid) === owner;
}

/** Process id and, where the system tells, its start time: a number used again is then not mistaken for its owner. */
function processMark(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A process that has ended and only waits to be reaped holds nothing any more.
    return /[ZX]/.test(state) ? '' : `${pid} ${rest[18] ?? ''}`;
  } catch {
    return `${pid} `;
  }
}
