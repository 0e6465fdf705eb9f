import type { Color, PDFPage } from '@libpdf/core';
import type { TextRun } from '../text/fonts.ts';

interface LineStyle {
  color: Color;
  width: number;
}

interface BoxStyle {
  fill?: Color;
  stroke?: Color;
  width?: number;
}

type Point = readonly [number, number];

export type Sheet = ReturnType<typeof createSheet>;

/** Creates the drawing on a page. All positions are in points from the page's top left corner. Text is positioned by its baseline. */
export function createSheet(page: PDFPage) {
  const up = (y: number): number => page.height - y;
  const strokeOptions = ({ color, width }: LineStyle) =>
    ({ borderColor: color, borderWidth: width, lineCap: 'round', lineJoin: 'round' }) as const;
  return {
    size: { width: page.width, height: page.height },
    text(
      runs: readonly TextRun[],
      x: number,
      y: number,
      { size, color }: { size: number; color: Color },
    ): void {
      let left = x;
      for (const { font, text } of runs) {
        page.drawText(text, { x: left, y: up(y), font, size, color });
        left += font.getTextWidth(text, size);
      }
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
    /** Draws a polyline with round ends. */
    stroke([start, ...points]: readonly Point[], style: LineStyle): void {
      if (start === undefined) return;
      const path = page.drawPath().moveTo(start[0], up(start[1]));
      for (const [x, y] of points) path.lineTo(x, up(y));
      path.stroke(strokeOptions(style));
    },
    /** Draws a smooth line through the middle of each segment, bent towards the point between them, or a dot for a single point. */
    curve([start, ...points]: readonly Point[], style: LineStyle): void {
      if (start === undefined) return;
      const path = page.drawPath().moveTo(start[0], up(start[1]));
      for (const [index, [x, y]] of points.slice(0, -1).entries()) {
        const [nextX, nextY] = points[index + 1] ?? [x, y];
        path.quadraticCurveTo(x, up(y), (x + nextX) / 2, up((y + nextY) / 2));
      }
      const [x, y] = points.at(-1) ?? start;
      path.lineTo(x, up(y)).stroke(strokeOptions(style));
    },
  };
}
