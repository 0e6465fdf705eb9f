import { type Faces, openFaces, type Use } from './faces.ts';
import { type BaseDirection, covers, directionOf } from './itemize.ts';
import { shapeLine } from './shape.ts';
import { requoted, unquoted } from './untrusted.ts';

/** A text fitted into a box. */
interface FittedText {
  lines: string[];
  size: number;
  direction: BaseDirection;
  /** False if the text doesn't fit even at the smallest size; the last line then ends with an ellipsis. */
  complete: boolean;
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
  /** The ending of a shortened text; an ellipsis by default. */
  ending?: string;
}

const words = new Intl.Segmenter('und', { granularity: 'word' });
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Scripts in which lines can break without a space. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

let shared: Faces | undefined;

export type Typesetter = ReturnType<typeof createTypesetter>;

/**
 * Creates a typesetter, which measures and breaks text in the sandbox's fonts. It caches its measurements, so create one per document. The
 * font files stay open for the next one.
 */
export function createTypesetter() {
  shared ??= openFaces();
  const faces = shared;
  const widths = new Map<string, number>();
  const em = (text: string, use: Use): number => {
    const key = `${use} ${text}`;
    const known = widths.get(key);
    if (known !== undefined) return known;
    const measured = shapeLine(faces, text, use).width;
    widths.set(key, measured);
    return measured;
  };
  const typesetter = {
    shape: (text: string, use: Use, base?: BaseDirection) => shapeLine(faces, text, use, base),
    /** Returns the width of a line in points. */
    width: (text: string, use: Use, size: number) => em(text, use) * size,
    /** Breaks a paragraph into lines of at most `width` points. */
    wrap(text: string, use: Use, size: number, width: number): string[] {
      const widthOf = (piece: string): number => em(piece, use) * size;
      const inner = unquoted(text);
      if (inner === undefined) return wrapPieces(breakable(text), widthOf, width);
      const direction = directionOf(inner);
      return wrapPieces(breakable(inner), widthOf, width).map((line) => requoted(line, direction));
    },
    /** Fits paragraphs into a box at the largest possible size. Shortens them if they don't fit at the smallest size. */
    fit(paragraphs: readonly string[], use: Use, options: FitOptions): FittedText {
      const { width, height = 0, leading = 1, largest, smallest, ending } = options;
      const single = paragraphs.join(' ');
      const direction = directionOf(single);
      const linesAt = (size: number): string[] =>
        paragraphs.flatMap((paragraph) => typesetter.wrap(paragraph, use, size, width));
      const room = (size: number): number => Math.max(1, Math.floor(height / (leading * size) + 1e-6));
      for (let size = largest; size >= smallest; size -= 0.25) {
        const oneLine = paragraphs.length === 1 || room(size) < 2;
        const singleWidth = typesetter.width(single, use, size);
        if (oneLine && singleWidth <= width) return { lines: [single], size, direction, complete: true };
        if (room(size) < 2 || singleWidth > width * room(size)) continue;
        const lines = linesAt(size);
        if (lines.length <= room(size)) return { lines, size, direction, complete: true };
      }
      const kept = linesAt(smallest).slice(0, room(smallest));
      const fits = (text: string) => typesetter.width(text, use, smallest) <= width;
      const cut = shortened(kept.pop() ?? '', fits, ending);
      return { lines: [...kept, cut], size: smallest, direction, complete: false };
    },
    /** Returns true if the face of this use has every character. */
    covers: (text: string, use: Use) => covers(faces, text, use),
  };
  return typesetter;
}

/** Returns the longest start of the text that is accepted together with the ending. */
function shortened(text: string, accepted: (text: string) => boolean, ending = '…'): string {
  const characters = [...graphemes.segment(text)].map(({ segment }) => segment);
  while (characters.length > 0 && !accepted(`${characters.join('').trimEnd()}${ending}`)) characters.pop();
  return `${characters.join('').trimEnd()}${ending}`;
}

/** Splits text into pieces between which a line may break. Spaces belong to the piece before them. */
function breakable(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment } of words.segment(text)) {
    const last = pieces.at(-1);
    const canBreak =
      last === undefined || /\s$/u.test(last) || (UNSPACED.test(last) && UNSPACED.test(segment));
    if (last === undefined || (canBreak && segment.trim() !== '')) pieces.push(segment);
    else pieces[pieces.length - 1] = last + segment;
  }
  return pieces;
}

function wrapPieces(pieces: readonly string[], widthOf: (text: string) => number, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  const flush = (): void => {
    if (line.trim() !== '') lines.push(line.trimEnd());
    line = '';
    used = 0;
  };
  for (const piece of pieces) {
    if (used + widthOf(piece.trimEnd()) > width) flush();
    for (const part of widthOf(piece.trimEnd()) > width ? slices(piece, widthOf, width) : [piece]) {
      if (line !== '' && used + widthOf(part.trimEnd()) > width) flush();
      line += part;
      used += widthOf(part);
    }
  }
  flush();
  return lines;
}

/** Splits a word that is wider than a line between characters. */
function slices(piece: string, widthOf: (text: string) => number, width: number): string[] {
  const parts: string[] = [];
  let part = '';
  let used = 0;
  for (const { segment } of graphemes.segment(piece)) {
    const next = widthOf(segment);
    if (part !== '' && used + next > width) {
      parts.push(part);
      part = '';
      used = 0;
    }
    part += segment;
    used += next;
  }
  if (part !== '') parts.push(part);
  return parts;
}
