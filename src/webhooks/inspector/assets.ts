import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../kernel/errors.ts';

/** The only files there are: what a request names can never become a path. */
const TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'main.js': 'text/javascript; charset=utf-8',
  'stream.js': 'text/javascript; charset=utf-8',
  'list.js': 'text/javascript; charset=utf-8',
  'detail.js': 'text/javascript; charset=utf-8',
  'timeline.js': 'text/javascript; charset=utf-8',
  'json.js': 'text/javascript; charset=utf-8',
  'dom.js': 'text/javascript; charset=utf-8',
};

export interface Asset {
  body: Uint8Array<ArrayBuffer>;
  type: string;
}

/** A file of the page; undefined for any other name. */
export async function readAsset(name: string): Promise<Asset | undefined> {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type === undefined) return undefined;
  const here = import.meta.dirname;
  // From source they stand beside this file; the build puts them beside the program's folder.
  for (const folder of [join(here, 'assets'), join(here, '../inspector')]) {
    try {
      return { body: new Uint8Array(await readFile(join(folder, name))), type };
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
  return undefined;
}
