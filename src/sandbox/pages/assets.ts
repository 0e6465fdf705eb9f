import { join } from 'node:path';
import { type Asset, readAsset } from '../../kernel/files/asset.ts';
import { fontFolder } from '../documents/text/folder.ts';

const STYLES = ['design.css', 'style.css', 'tables.css', 'document.css', 'editor.css'];
const SCRIPTS = ['page.js', 'live.js', 'sign.js', 'sheets.js', 'reading.js', 'pad.js', 'edit.js'];
const NAMES = [...STYLES, ...SCRIPTS, 'icon.svg', 'pdf.min.mjs', 'pdf.worker.min.mjs', 'hand.ttf'];

/** Reads an asset of the pages, which the build copies next to the fonts. Returns undefined for any other name. */
export function pageAsset(name: string): Promise<Asset | undefined> {
  return readAsset(name, NAMES, [join(fontFolder(), '../pages')]);
}
