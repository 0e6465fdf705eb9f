import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns true if a shell would find a program with this name. */
export function isOnPath(name: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const names = process.platform === 'win32' ? [`${name}.cmd`, `${name}.exe`] : [name];
  return folders.some((folder) => names.some((one) => isExecutable(join(folder, one))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
