import { join } from 'node:path';
import { type Asset, readAsset } from '../../kernel/files/asset.ts';

const SCRIPTS = ['main.js', 'stream.js', 'list.js', 'detail.js', 'timeline.js', 'json.js', 'dom.js'];
const NAMES = ['index.html', 'design.css', 'style.css', 'icon.svg', ...SCRIPTS];

/** Returns a file of the page, or undefined for any other name. */
export function pageAsset(name: string): Promise<Asset | undefined> {
  const here = import.meta.dirname;
  // The source files are in these two folders. The build copies them to `dist/inspector`.
  return readAsset(name, NAMES, [
    join(here, 'assets'),
    join(here, '../../kernel/assets'),
    join(here, '../inspector'),
  ]);
}
