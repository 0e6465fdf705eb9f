import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { shippedFile } from '../kernel/files/shipped-file.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file of a web page. */
export interface Asset {
  body: Uint8Array<ArrayBuffer>;
  /** Its content type. */
  type: string;
}

/** The files of the kit: the style of all pages, their icon, and the script for times and copying. */
export const KIT_FILES = ['style.css', 'icon.svg', 'page.js'];

/**
 * Reads a file of a page, which the build copied to `dist/pages`. Returns undefined for a name that isn't in `names`, so that text
 * from a request never becomes a path.
 */
export async function readAsset(name: string, names: readonly string[]): Promise<Asset | undefined> {
  if (!names.includes(name)) return undefined;
  const style = shippedFile(import.meta.filename, 'pages/style.css', 'dist/pages/style.css');
  if (style === undefined) throw new Error('The files of the web pages are missing.');
  const body = new Uint8Array(await readFile(join(dirname(style), name)));
  return { body, type: TYPES[extname(name)] ?? 'application/octet-stream' };
}
