import { type Color, rgb } from '@libpdf/core';
import type { FieldRecord } from '../../model.ts';
import type { PdfSheet } from '../pdf/sheet.ts';
import type { FontUse } from '../text/fonts.ts';
import type { Typesetter } from '../text/typesetter.ts';

export const COLORS = {
  ink: rgb(0.11, 0.13, 0.17),
  grey: rgb(0.39, 0.42, 0.47),
  faint: rgb(0.6, 0.63, 0.67),
  hairline: rgb(0.82, 0.84, 0.87),
  tint: rgb(0.965, 0.972, 0.982),
  accent: rgb(0.13, 0.27, 0.44),
  penBlue: rgb(0.08, 0.17, 0.45),
  warning: rgb(0.62, 0.26, 0.12),
} as const satisfies Record<string, Color>;

/** The page to draw on, and the typesetter of its document. */
export interface Pen {
  readonly sheet: PdfSheet;
  readonly type: Typesetter;
}

/** The style of text. The size and line height are in points. */
export interface TextStyle {
  use: FontUse;
  size: number;
  leading: number;
  color: Color;
}

export const STYLES = {
  title: { use: 'strong', size: 21, leading: 27, color: COLORS.ink },
  heading: { use: 'strong', size: 10.8, leading: 15, color: COLORS.accent },
  body: { use: 'text', size: 10, leading: 15.2, color: COLORS.ink },
  small: { use: 'text', size: 8.2, leading: 11.5, color: COLORS.grey },
  label: { use: 'text', size: 7.4, leading: 9.5, color: COLORS.grey },
  footer: { use: 'text', size: 7.2, leading: 9.5, color: COLORS.grey },
  mono: { use: 'text', size: 7.6, leading: 11, color: COLORS.ink },
} as const satisfies Record<string, TextStyle>;

/** A part of a page, in points from its top left corner. */
export type Box = Pick<FieldRecord, 'x' | 'y' | 'width' | 'height'>;

interface TextLine {
  x: number;
  /** The baseline. */
  y: number;
  align?: 'left' | 'right' | 'center';
}

/** Draws one line of text. */
export function drawLine(pen: Pen, text: string, { use, size, color }: TextStyle, line: TextLine): void {
  const width = pen.type.width(text, use, size);
  const x = line.x - (line.align === 'right' ? width : line.align === 'center' ? width / 2 : 0);
  pen.sheet.text(pen.type.shown(text, use), { x, y: line.y, font: pen.type.face(use), size, color });
}

/** Where a paragraph starts, and how wide it is. */
export interface Column {
  x: number;
  top: number;
  width: number;
}

/** Draws the background of a field, and the line on which it is filled in. */
export function drawFieldBox(sheet: PdfSheet, { x, y, width, height }: Box): void {
  sheet.box(x, y, width, height, { fill: COLORS.tint });
  sheet.line(x, y + height, width, { color: COLORS.grey, width: 0.6 });
}

/** Draws a paragraph from its top edge down. Returns the top of the next one. */
export function drawParagraph(pen: Pen, text: string, style: TextStyle, place: Column): number {
  let top = place.top;
  for (const line of pen.type.wrap(text, style.use, style.size, place.width)) {
    drawLine(pen, line, style, { x: place.x, y: baseline(top, style) });
    top += style.leading;
  }
  return top;
}

/** Returns the baseline of a line with the given top edge. */
export function baseline(top: number, style: TextStyle): number {
  return top + style.leading / 2 + style.size * 0.36;
}

/** Draws one line, shrunk to fit the width, and shortened with an ellipsis if that isn't enough. */
export function drawFitted(
  pen: Pen,
  text: string,
  style: TextStyle,
  line: TextLine & { width: number; smallest?: number },
): void {
  const { width, smallest = style.size * 0.75 } = line;
  const fitted = pen.type.fit([text], style.use, { width, largest: style.size, smallest });
  drawLine(pen, fitted.lines[0] ?? '', { ...style, size: fitted.size }, line);
}

/** Draws a title, a subtitle, and a line below them. Returns the position of the line. */
export function drawTitle(pen: Pen, title: string, subtitle: string, place: Column): number {
  const { x, width } = place;
  const below = drawParagraph(pen, title, STYLES.title, place);
  const y = drawParagraph(pen, subtitle, STYLES.small, { x, top: below + 1, width }) + 9;
  pen.sheet.line(x, y, width, { color: COLORS.hairline, width: 0.75 });
  pen.sheet.line(x, y, 42, { color: COLORS.accent, width: 1.5 });
  return y;
}
