import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Color, type EmbeddedFont, layoutText, type PDF } from '@libpdf/core';
import { shippedFile } from '../../kernel/files/shipped-file.ts';

/** The use of a text. Each use has its own face, with Latin, Greek, and Cyrillic letters. */
type FontUse = 'text' | 'strong' | 'hand';

/** The style of text. The size and line height are in points. */
export interface TextStyle {
  use: FontUse;
  size: number;
  leading: number;
  color: Color;
}

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
/** The line height of fitted text, in em. */
const LEADING = 1.22;

/** The fonts of a document. A face is embedded when a text first needs it; only its used glyphs are saved. */
export class Fonts {
  readonly #pdf: PDF;
  readonly #faces = new Map<FontUse, EmbeddedFont>();

  constructor(pdf: PDF) {
    this.#pdf = pdf;
  }

  /** The embedded faces, in the order in which they were first used. */
  get embedded(): EmbeddedFont[] {
    return [...this.#faces.values()];
  }

  face(use: FontUse): EmbeddedFont {
    const face = this.#faces.get(use) ?? this.#pdf.embedFont(readFont(use));
    this.#faces.set(use, face);
    return face;
  }

  /** Returns a text with boxes for the characters that its face doesn't have. */
  shown(text: string, use: FontUse): string {
    const face = this.face(use);
    if (face.canEncode(text)) return text;
    return [...text].map((character) => (face.canEncode(character) ? character : BOX)).join('');
  }

  /** Breaks a paragraph into lines of at most `width` points. A word that is wider is broken, too. */
  wrap(text: string, { use, size }: TextStyle, width: number): string[] {
    const face = this.face(use);
    const part = new RegExp(`.{1,${Math.max(1, Math.floor(width / size))}}`, 'gsu');
    const words = this.shown(text, use).split(' ');
    const breakable = words.flatMap((word) =>
      face.getTextWidth(word, size) <= width ? [word] : (word.match(part) ?? []),
    );
    const { lines } = layoutText(breakable.join(' '), face, size, width, size);
    return lines.map((line) => line.text).filter((line) => line !== '');
  }

  /** Fits paragraphs into a box, or on one line, in the largest possible size. Shortens what doesn't fit in the smallest one. */
  fit(
    paragraphs: readonly string[],
    style: TextStyle,
    { width, height = 0, smallest }: { width: number; height?: number; smallest: number },
  ): { lines: string[]; style: TextStyle } {
    for (let { size } = style; ; size -= 0.25) {
      const smaller = { ...style, size, leading: size * LEADING };
      const room = Math.max(1, Math.floor(height / smaller.leading));
      const texts = room === 1 ? [paragraphs.join(' ')] : paragraphs;
      const lines = texts.flatMap((text) => this.wrap(text, smaller, width));
      if (lines.length <= room) return { lines, style: smaller };
      if (size - 0.25 >= smallest) continue;
      const last = [...(lines[room - 1] ?? '')].slice(0, -2).join('');
      return { lines: [...lines.slice(0, room - 1), `${last}…`], style: smaller };
    }
  }
}
