import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
function fontFolder(from: string = fileURLToPath(import.meta.url)): string {
  const file = shippedFile(from, join('fonts', FILES.text), join('dist', 'fonts', FILES.text));
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

/** Characters without a glyph are shown as the font's box, which has this noncharacter. */
const BOX = '\uffff';

/** A part of a line in one face. */
export interface TextRun {
  font: EmbeddedFont;
  text: string;
}

export type Fonts = ReturnType<typeof createFonts>;

/** The fonts of a document. A face is embedded when a text first needs it; only its used glyphs are saved. */
export function createFonts(pdf: PDF) {
  const faces = new Map<FontUse, EmbeddedFont>();
  const faceOf = (use: FontUse): EmbeddedFont => {
    const face = faces.get(use) ?? pdf.embedFont(readFont(use));
    faces.set(use, face);
    return face;
  };
  const hasGlyph = (use: FontUse, character: string) => faceOf(use).canEncode(character);
  /** Splits a line by the face that has its characters. The handwriting has no Greek letters. */
  const runs = (line: string, use: FontUse): TextRun[] => {
    const found: TextRun[] = [];
    for (const character of line) {
      const own = use !== 'hand' || hasGlyph(use, character) ? use : 'text';
      const shown = hasGlyph(own, character) ? character : BOX;
      const font = faceOf(own);
      const last = found.at(-1);
      if (last?.font === font) last.text += shown;
      else found.push({ font, text: shown });
    }
    return found;
  };
  return {
    runs,
    /** Returns the width of a line in em. */
    width: (line: string, use: FontUse): number =>
      runs(line, use).reduce((sum, { font, text }) => sum + font.getTextWidth(text, 1), 0),
    /** Returns true if the face of this use has every character. */
    covers: (text: string, use: FontUse): boolean => [...text].every((character) => hasGlyph(use, character)),
    /** The embedded faces, in the order in which they were first used. */
    embedded: () => [...faces.values()],
  };
}
