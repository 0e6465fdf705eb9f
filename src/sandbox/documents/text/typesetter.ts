import { type Faces, openFaces, type Use } from './faces.ts';
import { type BaseDirection, covers, directionOf } from './itemize.ts';
import { type ShapedLine, shapeLine } from './shape.ts';
import { requoted, unquoted } from './untrusted.ts';

/** A text fitted into a box. */
export interface FittedText {
  lines: string[];
  size: number;
  direction: BaseDirection;
  /** False if the text doesn't fit even at the smallest size; the last line then ends with an ellipsis. */
  complete: boolean;
}

export interface FitOptions {
  width: number;
  height: number;
  /** The largest font size to try. */
  largest: number;
  /** The smallest font size to try. */
  smallest: number;
  /** The line height in em. */
  leading: number;
  /** The ending of a shortened text; an ellipsis by default. */
  ending?: string;
}

/** Measures and breaks text. It caches its measurements, so create one per document. */
export interface Typesetter {
  shape(text: string, use: Use, base?: BaseDirection): ShapedLine;
  /** Returns the width of a line in points. */
  width(text: string, use: Use, size: number): number;
  /** Breaks a paragraph into lines of at most `width` points. */
  wrap(text: string, use: Use, size: number, width: number): string[];
  /** Fits paragraphs into a box at the largest possible size. Shortens them if they don't fit at the smallest size. */
  fit(paragraphs: readonly string[], use: Use, options: FitOptions): FittedText;
  /** Returns true if the face of this use has every character. */
  covers(text: string, use: Use): boolean;
}

const words = new Intl.Segmenter('und', { granularity: 'word' });
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Scripts in which lines can break without a space. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

let shared: Faces | undefined;

/** Creates a typesetter for the sandbox's fonts. The font files stay open for the next one. */
export function createTypesetter(): Typesetter {
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
  const typesetter: Typesetter = {
    shape: (text, use, base) => shapeLine(faces, text, use, base),
    width: (text, use, size) => em(text, use) * size,
    wrap(text, use, size, width) {
      const widthOf = (piece: string): number => em(piece, use) * size;
      const inner = unquoted(text);
      if (inner === undefined) return wrapPieces(breakable(text), widthOf, width);
      const direction = directionOf(inner);
      return wrapPieces(breakable(inner), widthOf, width).map((line) => requoted(line, direction));
    },
    fit(paragraphs, use, options) {
      const direction = directionOf(paragraphs.join(' '));
      const linesAt = (size: number): string[] =>
        paragraphs.flatMap((paragraph) => typesetter.wrap(paragraph, use, size, options.width));
      const room = (size: number): number =>
        Math.max(1, Math.floor(options.height / (options.leading * size) + 1e-6));
      const single = paragraphs.join(' ');
      for (let size = options.largest; size >= options.smallest; size -= 0.25) {
        const oneLine = paragraphs.length === 1 || room(size) < 2;
        if (oneLine && typesetter.width(single, use, size) <= options.width) {
          return { lines: [single], size, direction, complete: true };
        }
        if (room(size) < 2 || typesetter.width(single, use, size) > options.width * room(size)) continue;
        const lines = linesAt(size);
        if (lines.length <= room(size)) return { lines, size, direction, complete: true };
      }
      const size = options.smallest;
      const kept = linesAt(size).slice(0, room(size));
      const last = kept.pop() ?? '';
      const cut = shortened(
        last,
        (text) => typesetter.width(text, use, size) <= options.width,
        options.ending,
      );
      return { lines: [...kept, cut], size, direction, complete: false };
    },
    covers: (text, use) => covers(faces, text, use),
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
