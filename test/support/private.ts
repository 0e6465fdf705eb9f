import { statSync } from 'node:fs';

/** Whether a file or folder is readable only by its owner. Windows has no such bits: there, the user's folder is private. */
export function isPrivate(path: string): boolean {
  return process.platform === 'win32' || (statSync(path).mode & 0o077) === 0;
}
