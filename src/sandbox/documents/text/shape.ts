import { Direction, Buffer as ShapingBuffer, shape as shapeBuffer } from 'harfbuzzjs';
import type { Face, Faces, Use } from './faces.ts';
import { type BaseDirection, type Item, itemize } from './itemize.ts';
import { shownCodePoint } from './untrusted.ts';

/** Lengths are in em: multiply by the type size. */
export interface Glyph {
  id: number;
  advance: number;
  dx: number;
  dy: number;
  /** The characters it stands for; empty for the second and further glyphs of a cluster. */
  text: string;
}

/** Glyphs of one face from left to right. */
export interface GlyphRun {
  face: Face;
  glyphs: Glyph[];
  /** In reading order. */
  text: string;
  rightToLeft: boolean;
}

/** A character that no font has, or that must not take effect: drawn as a box around its code point. */
export interface CodePointBox {
  label: GlyphRun;
  width: number;
}

export type Piece = { kind: 'glyphs'; run: GlyphRun; width: number } | ({ kind: 'box' } & CodePointBox);

/** One line of text, ready to draw. */
export interface ShapedLine {
  pieces: Piece[];
  /** In em. */
  width: number;
}

/** Size of a box's label and the room around it, in em of the surrounding text. */
export const BOX = { label: 0.62, padding: 0.12, margin: 0.06 } as const;

/** Turns a line into positioned glyphs; `base` is the direction of its surroundings. */
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
  const rightToLeft = item.level % 2 === 1;
  const buffer = new ShapingBuffer();
  buffer.addText(item.text, item.start, item.end - item.start);
  buffer.setScript(item.script ?? 'Latn');
  buffer.setDirection(rightToLeft ? Direction.RTL : Direction.LTR);
  shapeBuffer(face.font, buffer);
  const infos = buffer.getGlyphInfos();
  const positions = buffer.getGlyphPositions();
  const texts = clusterTexts(
    item,
    infos.map(({ cluster }) => cluster),
  );
  const glyphs = infos.map(({ codepoint, cluster }, index) => {
    const position = positions[index];
    const text = infos[index - 1]?.cluster === cluster ? '' : (texts.get(cluster) ?? '');
    return {
      id: codepoint,
      advance: (position?.xAdvance ?? 0) / face.unitsPerEm,
      dx: (position?.xOffset ?? 0) / face.unitsPerEm,
      dy: (position?.yOffset ?? 0) / face.unitsPerEm,
      text,
    };
  });
  return { face, glyphs, text: item.text.slice(item.start, item.end), rightToLeft };
}

/** Each cluster's characters: from its own offset to the next one's. */
function clusterTexts(item: Omit<Item, 'face'>, clusters: number[]): Map<number, string> {
  const starts = [...new Set(clusters)].sort((a, b) => a - b);
  return new Map(
    starts.map((start, index) => [start, item.text.slice(start, starts[index + 1] ?? item.end)]),
  );
}
