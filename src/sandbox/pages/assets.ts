import { join } from 'node:path';
import { type Asset, readAsset } from '../../kernel/files/asset.ts';
import { fontFolder } from '../papers/text/folder.ts';

const OWN = ['style.css', 'sign.js', 'edit.js', 'sheets.js', 'live.js', 'pad.js'];
const NAMES = [...OWN, 'pdf.min.mjs', 'pdf.worker.min.mjs', 'hand.ttf'];

/** A file of the pages, put beside the fonts by the build; undefined for any other name. */
export function pageAsset(name: string): Promise<Asset | undefined> {
  return readAsset(name, NAMES, [join(fontFolder(), '../pages')]);
}
