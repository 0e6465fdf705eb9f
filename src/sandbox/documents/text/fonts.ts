import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EmbeddedFont, PDF } from '@libpdf/core';
import { shippedFile } from '../../../kernel/files/shipped-file.ts';

/** The use of a text. Each use has its own face, with Latin, Greek, and Cyrillic letters. */
export type Use = 'text' | 'strong' | 'hand';

const FILES: Readonly<Record<Use, string>> = {
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

const bytes = new Map<Use, Buffer>();

function bytesOf(use: Use): Buffer {
  const known = bytes.get(use);
  if (known) return known;
  const read = readFileSync(join(fontFolder(), FILES[use]));
  bytes.set(use, read);
  return read;
}

/** Characters without a glyph are shown as the font's box, which has this noncharacter. */
const BOX = '\uffff';

/** A part of a line in one face: the face's name in the page's resources, and the glyph numbers in hex. */
export interface Run {
  resource: string;
  glyphs: string;
  /** In em. */
  width: number;
}

export type Fonts = ReturnType<typeof createFonts>;

/** The fonts of a document. A face is embedded when a text first needs it; only its used glyphs are saved. */
export function createFonts(pdf: PDF) {
  const open = new Map<Use, { resource: string; font: EmbeddedFont }>();
  const faceOf = (use: Use) => {
    const known = open.get(use);
    if (known) return known;
    const face = { resource: `F${open.size + 1}`, font: pdf.embedFont(bytesOf(use)) };
    open.set(use, face);
    return face;
  };
  const hasGlyph = (use: Use, character: string) => faceOf(use).font.canEncode(character);
  /** Splits a text by the face that has its characters. The handwriting has no Greek letters. */
  const parts = (text: string, use: Use): { use: Use; text: string }[] => {
    const found: { use: Use; text: string }[] = [];
    for (const character of text) {
      const own = use !== 'hand' || hasGlyph(use, character) ? use : 'text';
      const shown = hasGlyph(own, character) ? character : BOX;
      const last = found.at(-1);
      if (last?.use === own) last.text += shown;
      else found.push({ use: own, text: shown });
    }
    return found;
  };
  return {
    /** Returns the runs of a line, whose glyphs then are part of the document. */
    runs: (text: string, use: Use): Run[] =>
      parts(text, use).map((part) => {
        const { resource, font } = faceOf(part.use);
        const glyphs = font.encodeTextToGids(part.text).map((id) => id.toString(16).padStart(4, '0'));
        return { resource, glyphs: glyphs.join(''), width: font.getTextWidth(part.text, 1) };
      }),
    /** Returns the width of a line in em. */
    width: (text: string, use: Use): number =>
      parts(text, use).reduce((sum, part) => sum + faceOf(part.use).font.getTextWidth(part.text, 1), 0),
    /** Returns true if the face of this use has every character. */
    covers: (text: string, use: Use): boolean => [...text].every((character) => hasGlyph(use, character)),
    /** The embedded faces by their names in a page's resources. */
    faces: () => [...open.values()],
  };
}
