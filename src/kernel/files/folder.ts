import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../errors.ts';

/**
 * Creates a folder and its parents. Returns false if it existed. Doesn't use Node's recursive mkdir, which loops forever if a
 * folder can't be created although its parent exists, as in /proc.
 */
export function makeFolder(path: string, mode?: number): boolean {
  try {
    return makeOne(path, mode);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path), mode);
    return makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number | undefined): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory()) return false;
    throw there ? Object.assign(new Error(`${path} is not a folder`), { code: 'ENOTDIR' }) : error;
  }
}

/** @throws the system's error if a folder between `dir` and the file is a link, which could lead anywhere. */
export function refuseLinks(dir: string, file: string): void {
  const top = resolve(dir);
  for (let at = dirname(resolve(file)); at !== top && at !== dirname(at); at = dirname(at))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink())
      throw Object.assign(new Error(`${at} is a link`), { code: 'ELOOP' });
}
