import { type Color, type PDFPage, rgb } from '@libpdf/core';
import type { FieldRecord } from '../model.ts';
import type { Fonts, TextStyle } from './fonts.ts';

export const COLORS = {
  ink: rgb(0.11, 0.13, 0.17),
  grey: rgb(0.39, 0.42, 0.47),
  tint: rgb(0.965, 0.972, 0.982),
  accent: rgb(0.13, 0.27, 0.44),
  penBlue: rgb(0.08, 0.17, 0.45),
  warning: rgb(0.62, 0.26, 0.12),
} as const satisfies Record<string, Color>;

export const STYLES = {
  title: { use: 'strong', size: 21, leading: 27, color: COLORS.ink },
  heading: { use: 'strong', size: 10.8, leading: 15, color: COLORS.accent },
  body: { use: 'text', size: 10, leading: 15.2, color: COLORS.ink },
  small: { use: 'text', size: 8.2, leading: 11.5, color: COLORS.grey },
  footer: { use: 'text', size: 7.2, leading: 9.5, color: COLORS.grey },
} as const satisfies Record<string, TextStyle>;

/** A part of a page, in points from its top left corner. */
export type Box = Pick<FieldRecord, 'x' | 'y' | 'width' | 'height'>;

/** Where a paragraph starts, and how wide it is. */
export interface Column {
  x: number;
  top: number;
  width: number;
}

/** A page to draw on. All positions are in points from its top left corner. */
export class Sheet {
  readonly fonts: Fonts;
  readonly #page: PDFPage;

  constructor(page: PDFPage, fonts: Fonts) {
    this.#page = page;
    this.fonts = fonts;
  }

  /** Draws one line of text. `y` is its baseline. */
  line(text: string, { use, size, color }: TextStyle, { x, y }: { x: number; y: number }): void {
    const [shown, font] = [this.fonts.shown(text, use), this.fonts.face(use)];
    this.#page.drawText(shown, { x, y: this.#page.height - y, font, size, color });
  }

  /** Draws one line, shrunk to fit the width, and shortened if that isn't enough. */
  fittedLine(text: string, style: TextStyle, place: { x: number; y: number; width: number }): void {
    const fitted = this.fonts.fit([text], style, { width: place.width, smallest: style.size * 0.6 });
    this.line(fitted.lines[0] ?? '', fitted.style, place);
  }

  /** Draws lines from a top edge down. Returns the top of the next one. */
  lines(lines: readonly string[], style: TextStyle, { x, top }: Omit<Column, 'width'>): number {
    for (const [index, text] of lines.entries())
      this.line(text, style, { x, y: baseline(top + index * style.leading, style) });
    return top + lines.length * style.leading;
  }

  /** Draws a paragraph from its top edge down. Returns the top of the next one. */
  paragraph(text: string, style: TextStyle, place: Column): number {
    return this.lines(this.fonts.wrap(text, style, place.width), style, place);
  }

  /** Draws a title and a subtitle. Returns the top of what follows. */
  title(title: string, subtitle: string, place: Column): number {
    const top = this.paragraph(title, STYLES.title, place) + 1;
    return this.paragraph(subtitle, STYLES.small, { ...place, top }) + 22;
  }

  box({ x, y, width, height }: Box, style: { fill: Color } | { stroke: Color }): void {
    const look = 'fill' in style ? { color: style.fill } : { borderColor: style.stroke, borderWidth: 0.75 };
    this.#page.drawRectangle({ x, y: this.#page.height - y - height, width, height, ...look });
  }

  /** Draws the lines of an SVG path as with a pen, with round ends. `scale` is the size of the path's unit, in points. */
  ink(path: string, { x, y, scale, width }: { x: number; y: number; scale: number; width: number }): void {
    const pen = { borderColor: COLORS.penBlue, borderWidth: width, lineCap: 'round' } as const;
    this.#page.drawSvgPath(path, { x, y: this.#page.height - y, scale, lineJoin: 'round', ...pen });
  }

  /** Marks a page of a signed document with its envelope's ID and a note that it is not legally binding. */
  mark(envelopeId: string): void {
    const text = `SANDBOX · Envelope ${envelopeId} · Made in a sandbox. Not legally binding.`;
    const style = { ...STYLES.footer, color: COLORS.warning };
    this.fittedLine(text, style, { x: MARGIN, y: this.#page.height - 29, width: TEXT_WIDTH });
  }

  /** Draws the footer: what the page belongs to, and its number. */
  footer(text: string): void {
    this.fittedLine(text, STYLES.footer, { x: MARGIN, y: 801, width: TEXT_WIDTH });
  }
}

/** The left margin of all pages, and the width of their text. */
export const MARGIN = 64;
export const TEXT_WIDTH = 467;

/** Returns the baseline of a line with the given top edge. */
export function baseline(top: number, style: TextStyle): number {
  return top + style.leading / 2 + style.size * 0.36;
}
