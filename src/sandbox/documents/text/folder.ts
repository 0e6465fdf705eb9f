import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { shippedFile } from '../../../kernel/files/asset.ts';

const FontList = z.object({
  faces: z.array(z.object({ use: z.enum(['text', 'strong', 'hand', 'mono']), file: z.string() })),
  fallbacks: z.array(z.object({ file: z.string(), ranges: z.array(z.tuple([z.number(), z.number()])) })),
});

/** The content of `fonts.json`, which scripts/fonts.mjs writes: the faces by use, and the characters that each fallback covers. */
export type FontList = z.infer<typeof FontList>;

/**
 * Returns the font folder: `fonts/` next to or above this module in a bundle, `dist/fonts/` of the repository when running from source.
 * Throws if the build step that creates it has not run.
 */
export function fontFolder(from: string = fileURLToPath(import.meta.url)): string {
  const list = shippedFile(from, join('fonts', 'fonts.json'), join('dist', 'fonts', 'fonts.json'));
  if (list !== undefined) return dirname(list);
  throw new Error("The sandbox's fonts are missing: run `node scripts/fonts.mjs` to prepare them.");
}

/** Reads the list of a font folder. Throws if scripts/fonts.mjs didn't write it. */
export function readFontList(folder: string): FontList {
  return FontList.parse(JSON.parse(readFileSync(join(folder, 'fonts.json'), 'utf8')));
}
