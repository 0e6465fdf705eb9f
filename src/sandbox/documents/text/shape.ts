import { Direction, Buffer as ShapingBuffer, shape as shapeBuffer } from 'harfbuzzjs';
import type { Face, Faces, Use } from './faces.ts';
import { type BaseDirection, type Item, itemize } from './itemize.ts';
import { shownCodePoint } from './untrusted.ts';

/** A positioned glyph. Lengths are in em; multiply them by the font size. */
export interface Glyph {
  id: number;
  advance: number;
  dx: number;
  dy: number;
  /** The characters that the glyph represents; empty for all but the first glyph of a cluster. */
  text: string;
}

/** The glyphs of one face, from left to right. */
export interface GlyphRun {
  face: Face;
  glyphs: Glyph[];
  /** The text in reading order. */
  text: string;
}

/** Glyphs, or a character that no font has or that must not take effect: it is drawn as a box around its code point. */
export type Piece =
  | { kind: 'glyphs'; run: GlyphRun; width: number }
  | { kind: 'box'; label: GlyphRun; width: number };

/** A line of text that is ready to draw. */
export interface ShapedLine {
  pieces: Piece[];
  /** The width in em. */
  width: number;
}

/** The size of a box's label and the space around it, in em of the surrounding text. */
export const BOX = { label: 0.62, padding: 0.12, margin: 0.06 } as const;

/** Converts a line to positioned glyphs; `base` is the direction of the surrounding text. */
export function shapeLine(faces: Faces, line: string, use: Use, base: BaseDirection = 'ltr'): ShapedLine {
  const pieces = itemize(faces, line, use, base).flatMap((item) => piecesOf(faces, item));
  return { pieces, width: pieces.reduce((sum, piece) => sum + piece.width, 0) };
}

function piecesOf(faces: Faces, item: Item): Piece[] {
  if (item.face) {
    const run = shapeRun(item.face, item);
    return [{ kind: 'glyphs', run, width: run.glyphs.reduce((sum, glyph) => sum + glyph.advance, 0) }];
  }
  const characters = [...item.text.slice(item.start, item.end)];
  return (item.level % 2 === 1 ? characters.reverse() : characters).map((character) => box(faces, character));
}

function box(faces: Faces, character: string): Piece {
  const codePoint = character.codePointAt(0) ?? 0;
  const text = `U+${(shownCodePoint(codePoint) ?? codePoint).toString(16).toUpperCase().padStart(4, '0')}`;
  const label = shapeRun(faces.byUse('mono'), { text, start: 0, end: text.length, script: 'Latn', level: 0 });
  const inner = label.glyphs.reduce((sum, glyph) => sum + glyph.advance, 0) * BOX.label;
  return { kind: 'box', label, width: inner + 2 * (BOX.padding + BOX.margin) };
}

function shapeRun(face: Face, item: Omit<Item, 'face'>): GlyphRun {
  const buffer = new ShapingBuffer();
  buffer.addText(item.text, item.start, item.end - item.start);
  buffer.setScript(item.script ?? 'Latn');
  buffer.setDirection(item.level % 2 === 1 ? Direction.RTL : Direction.LTR);
  shapeBuffer(face.font, buffer);
  const infos = buffer.getGlyphInfos();
  const positions = buffer.getGlyphPositions();
  // A cluster's characters range from its own offset to that of the next one.
  const starts = [...new Set(infos.map(({ cluster }) => cluster))].sort((a, b) => a - b);
  const textOf = (start: number) => item.text.slice(start, starts[starts.indexOf(start) + 1] ?? item.end);
  const glyphs = infos.map(({ codepoint: id, cluster }, index) => {
    const { xAdvance = 0, xOffset = 0, yOffset = 0 } = positions[index] ?? {};
    const em = (units: number) => units / face.unitsPerEm;
    const text = infos[index - 1]?.cluster === cluster ? '' : textOf(cluster);
    return { id, advance: em(xAdvance), dx: em(xOffset), dy: em(yOffset), text };
  });
  return { face, glyphs, text: item.text.slice(item.start, item.end) };
}
