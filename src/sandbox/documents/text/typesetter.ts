import { layoutText } from '@libpdf/core';
import type { Fonts, FontUse } from './fonts.ts';

/** A text fitted into a box. */
interface FittedText {
  lines: string[];
  size: number;
}

interface FitOptions {
  width: number;
  /** The height of the box; by default, that of one line. */
  height?: number;
  /** The largest font size to try. */
  largest: number;
  /** The smallest font size to try. */
  smallest: number;
  /** The line height in em (default 1). */
  leading?: number;
}

export type Typesetter = ReturnType<typeof createTypesetter>;

/** Creates a typesetter for a document, which measures and breaks text in its fonts. */
export function createTypesetter({ face, shown }: Fonts) {
  const typesetter = {
    face,
    shown,
    /** Returns the width of a line in points. */
    width: (text: string, use: FontUse, size: number) => face(use).getTextWidth(shown(text, use), size),
    /** Breaks a paragraph into lines of at most `width` points. A word that is wider than a line is broken between characters. */
    wrap(text: string, use: FontUse, size: number, width: number): string[] {
      const widthOf = (piece: string) => face(use).getTextWidth(piece, size);
      const words = shown(text, use).split(' ');
      const breakable = words.flatMap((word) => slices(word, widthOf, width)).join(' ');
      const { lines } = layoutText(breakable, face(use), size, width, size);
      return lines.map((line) => line.text).filter((line) => line !== '');
    },
    /** Fits paragraphs into a box at the largest possible size. Shortens them if they don't fit at the smallest size. */
    fit(paragraphs: readonly string[], use: FontUse, options: FitOptions): FittedText {
      const { width, height = 0, leading = 1, largest, smallest } = options;
      const roomAt = (size: number) => Math.max(1, Math.floor(height / (leading * size) + 1e-6));
      const texts = roomAt(smallest) < 2 ? [paragraphs.join(' ')] : paragraphs;
      const linesAt = (size: number) => texts.flatMap((text) => typesetter.wrap(text, use, size, width));
      for (let size = largest; size >= smallest; size -= 0.25) {
        const lines = linesAt(size);
        if (lines.length <= roomAt(size)) return { lines, size };
      }
      const kept = linesAt(smallest).slice(0, roomAt(smallest));
      const fits = (line: string) => typesetter.width(line, use, smallest) <= width;
      const cut = shortened(kept.pop() ?? '', fits);
      return { lines: [...kept, cut], size: smallest };
    },
  };
  return typesetter;
}

/** Returns the longest start of the text that is accepted together with an ellipsis. */
function shortened(text: string, accepted: (text: string) => boolean): string {
  const characters = [...text];
  while (characters.length > 0 && !accepted(`${characters.join('').trimEnd()}…`)) characters.pop();
  return `${characters.join('').trimEnd()}…`;
}

/** Splits a word that is wider than a line between characters. */
function slices(word: string, widthOf: (text: string) => number, width: number): string[] {
  if (widthOf(word) <= width) return [word];
  const parts: string[] = [];
  let part = '';
  let used = 0;
  for (const character of word) {
    const next = widthOf(character);
    if (part !== '' && used + next > width) {
      parts.push(part);
      part = '';
      used = 0;
    }
    part += character;
    used += next;
  }
  return [...parts, part];
}
