import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { codeOf } from '../errors.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
};

/** A file of a web page. */
export interface Asset {
  body: Uint8Array<ArrayBuffer>;
  /** Its content type. */
  type: string;
}

/**
 * Reads a file of a page from the first folder that contains it. Returns undefined for a name that isn't in `names`, so that text
 * from a request never becomes a path.
 */
export async function readAsset(
  name: string,
  names: readonly string[],
  folders: readonly string[],
): Promise<Asset | undefined> {
  if (!names.includes(name)) return undefined;
  for (const folder of folders) {
    try {
      const body = new Uint8Array(await readFile(join(folder, name)));
      return { body, type: TYPES[extname(name)] ?? 'application/octet-stream' };
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

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
