import type { Color, EmbeddedFont, PDFPage } from '@libpdf/core';

interface PlacedTextStyle {
  x: number;
  /** The baseline. */
  y: number;
  font: EmbeddedFont;
  size: number;
  color: Color;
}

interface LineStyle {
  color: Color;
  width: number;
}

interface BoxStyle {
  fill?: Color;
  stroke?: Color;
  width?: number;
}

interface PathStyle extends LineStyle {
  x: number;
  y: number;
  /** The size of the path's unit, in points. */
  scale?: number;
}

export type PdfSheet = ReturnType<typeof createSheet>;

/** Creates the drawing on a page. All positions are in points from the page's top left corner. Text is positioned by its baseline. */
export function createSheet(page: PDFPage) {
  const up = (y: number): number => page.height - y;
  return {
    size: { width: page.width, height: page.height },
    text(text: string, { y, ...style }: PlacedTextStyle): void {
      page.drawText(text, { ...style, y: up(y) });
    },
    box(x: number, y: number, width: number, height: number, style: BoxStyle): void {
      page.drawRectangle({
        x,
        y: up(y + height),
        width,
        height,
        ...(style.fill && { color: style.fill }),
        ...(style.stroke && { borderColor: style.stroke, borderWidth: style.width ?? 0.5 }),
      });
    },
    /** Draws a horizontal line. */
    line(x: number, y: number, length: number, { color, width }: LineStyle): void {
      const [start, end] = [
        { x, y: up(y) },
        { x: x + length, y: up(y) },
      ];
      page.drawLine({ start, end, color, thickness: width });
    },
    /** Draws the lines of an SVG path, with round ends. Its origin is at `x` and `y`. */
    path(svg: string, { x, y, scale = 1, color, width }: PathStyle): void {
      const line = { borderColor: color, borderWidth: width, lineCap: 'round', lineJoin: 'round' } as const;
      page.drawSvgPath(svg, { x, y: up(y), scale, ...line });
    },
  };
}
