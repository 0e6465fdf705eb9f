import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../kernel/errors.ts';
import { fontFolder } from '../papers/text/folder.ts';

/** The only files there are: what a request names can never become a path. */
const TYPES: Readonly<Record<string, string>> = {
  'style.css': 'text/css; charset=utf-8',
  'sign.js': 'text/javascript; charset=utf-8',
  'edit.js': 'text/javascript; charset=utf-8',
  'sheets.js': 'text/javascript; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'pad.js': 'text/javascript; charset=utf-8',
  'pdf.min.mjs': 'text/javascript; charset=utf-8',
  'pdf.worker.min.mjs': 'text/javascript; charset=utf-8',
  'hand.ttf': 'font/ttf',
};

export interface Asset {
  body: Uint8Array<ArrayBuffer>;
  type: string;
}

/** A file of the pages, put beside the fonts by the build; undefined for any other name. */
export async function readAsset(name: string): Promise<Asset | undefined> {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type === undefined) return undefined;
  try {
    return { body: new Uint8Array(await readFile(join(fontFolder(), '../pages', name))), type };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
