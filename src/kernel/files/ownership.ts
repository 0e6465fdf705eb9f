import { closeSync, constants, fstatSync, lstatSync, type Stats } from 'node:fs';
import { openRegular, readOpened } from './regular-file.ts';

/*
 * Reads files in folders that others can write to. What another user put there, or a link, could be any file of this user.
 */

const { O_NOFOLLOW = 0 } = constants;

/** Returns true if a file or link belongs to a user other than this one and root. False if it doesn't exist, and on Windows. */
export function isForeign(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry !== undefined && !isOwn(entry);
}

/** Returns true if the path is another user's link, which that user can point at another file at any time. */
export function isForeignLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true && isForeign(path);
}

/** Returns true for a file of this user or root, and on Windows. */
export function isOwn({ uid }: Pick<Stats, 'uid'>): boolean {
  return process.geteuid === undefined || uid === 0 || uid === process.geteuid();
}

/**
 * Returns the bytes of a regular file that belongs to this user or root, or undefined if it doesn't exist.
 * @throws an error with the code EFOREIGN for another user's file, ELOOP for a link, or ETOOLARGE.
 */
export async function readOwnBytes(path: string, maxBytes: number): Promise<Buffer | undefined> {
  if (isForeign(path)) throw foreignError();
  const file = openRegular(path, O_NOFOLLOW);
  if (file === undefined) return undefined;
  try {
    const stat = fstatSync(file);
    if (!isOwn(stat)) throw foreignError();
    if (stat.size > maxBytes) throw tooLargeError();
    return await readOpened(file, maxBytes);
  } finally {
    closeSync(file);
  }
}

function foreignError(): Error {
  return Object.assign(new Error('the file belongs to another user'), { code: 'EFOREIGN' });
}

/** Returns the error for a file that is larger than any genuine one. */
export function tooLargeError(): Error {
  return Object.assign(new Error('the file is too large'), { code: 'ETOOLARGE' });
}
