import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const FontList = z.object({
  faces: z.array(z.object({ use: z.enum(['text', 'strong', 'hand', 'mono']), file: z.string() })),
  fallbacks: z.array(z.object({ file: z.string(), ranges: z.array(z.tuple([z.number(), z.number()])) })),
});

/** `fonts.json` as scripts/fonts.mjs writes it: the faces by use, and what each fallback covers. */
export type FontList = z.infer<typeof FontList>;

/**
 * The folder of fonts: `fonts/` beside or above this module once it is bundled, `dist/fonts/` of the
 * repository when it runs from source. Throws when the build step that fills it has not run.
 */
export function fontFolder(from: string = fileURLToPath(import.meta.url)): string {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    for (const candidate of [join(folder, 'fonts'), join(folder, 'dist', 'fonts')]) {
      if (existsSync(join(candidate, 'fonts.json'))) return candidate;
    }
    if (folder === dirname(folder)) break;
  }
  throw new Error('The fonts of the sandbox are missing: run "node scripts/fonts.mjs" to prepare them.');
}

/** Reads the list of a font folder. Throws when it is not one that scripts/fonts.mjs wrote. */
export function readFontList(folder: string): FontList {
  return FontList.parse(JSON.parse(readFileSync(join(folder, 'fonts.json'), 'utf8')));
}
