import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EmbeddedFont, PDF } from '@libpdf/core';
import { shippedFile } from '../../../kernel/files/shipped-file.ts';

/** The use of a text. Each use has its own face, with Latin, Greek, and Cyrillic letters. */
export type FontUse = 'text' | 'strong' | 'hand';

const FILES: Readonly<Record<FontUse, string>> = {
  text: 'NotoSans_400Regular.ttf',
  strong: 'NotoSans_600SemiBold.ttf',
  hand: 'Caveat_500Medium.ttf',
};

/**
 * Returns the font folder: `fonts/` next to or above this module in a bundle, `dist/fonts/` of the repository when running from source.
 * Throws if the build step that creates it has not run.
 */
function fontFolder(): string {
  const file = shippedFile(
    import.meta.filename,
    join('fonts', FILES.text),
    join('dist', 'fonts', FILES.text),
  );
  if (file !== undefined) return dirname(file);
  throw new Error("The sandbox's fonts are missing: run `node scripts/fonts.mjs` to prepare them.");
}

const files = new Map<FontUse, Buffer>();

/** Returns the file of a face, a TrueType font. */
export function readFont(use: FontUse): Buffer {
  const file = files.get(use) ?? readFileSync(join(fontFolder(), FILES[use]));
  files.set(use, file);
  return file;
}

/** The font's box for characters without a glyph has this noncharacter. */
const BOX = '\uffff';

export type Fonts = ReturnType<typeof createFonts>;

/** The fonts of a document. A face is embedded when a text first needs it; only its used glyphs are saved. */
export function createFonts(pdf: PDF) {
  const faces = new Map<FontUse, EmbeddedFont>();
  const face = (use: FontUse): EmbeddedFont => {
    const known = faces.get(use) ?? pdf.embedFont(readFont(use));
    faces.set(use, known);
    return known;
  };
  return {
    face,
    /** Returns a text with boxes for the characters that its face doesn't have. */
    shown(text: string, use: FontUse): string {
      if (face(use).canEncode(text)) return text;
      return [...text].map((character) => (face(use).canEncode(character) ? character : BOX)).join('');
    },
    /** The embedded faces, in the order in which they were first used. */
    embedded: () => [...faces.values()],
  };
}
