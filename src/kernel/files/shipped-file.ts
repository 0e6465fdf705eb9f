import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Returns the path of a file that ships with the program: the first of these names in the nearest folder above a module, in a
 * bundle and in the sources. Returns undefined if no folder contains one.
 */
export function shippedFile(module: string, ...names: string[]): string | undefined {
  for (let folder = dirname(module); ; folder = dirname(folder)) {
    const found = names.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (found !== undefined || folder === dirname(folder)) return found;
  }
}
