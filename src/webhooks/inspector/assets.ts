import { join } from 'node:path';
import { type Asset, readAsset } from '../../kernel/files/asset.ts';

const SCRIPTS = ['main.js', 'stream.js', 'list.js', 'detail.js', 'timeline.js', 'json.js', 'dom.js'];
const NAMES = ['index.html', 'style.css', 'icon.svg', ...SCRIPTS];

/** A file of the page; undefined for any other name. */
export function pageAsset(name: string): Promise<Asset | undefined> {
  const here = import.meta.dirname;
  // From source they stand beside this file; the build puts them beside the program's folder.
  return readAsset(name, NAMES, [join(here, 'assets'), join(here, '../inspector')]);
}
