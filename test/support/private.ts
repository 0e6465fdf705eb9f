import { statSync } from 'node:fs';

/** Whether a file or folder is for its owner alone. Windows has no such bits: there the user's own folder sees to it. */
export function isPrivate(path: string): boolean {
  return process.platform === 'win32' || (statSync(path).mode & 0o077) === 0;
}
