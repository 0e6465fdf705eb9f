import { DRAWING_LIMITS, type Drawing } from '../../model.ts';
import type { PdfSheet } from '../pdf/sheet.ts';
import { type Box, COLORS } from './pen.ts';

/** The pen's width on the pad, in the pad's unit, and its minimum and maximum width on a document, in points. */
const PEN = { pad: 6, least: 0.5, most: 1.5 } as const;

/**
 * Draws strokes into an area, aligned left and centered vertically, as large as fits. The scale is limited to that of a pad twice as wide
 * as the area, so that a dot stays a dot. Nothing is drawn outside the area.
 */
export function drawInk(sheet: PdfSheet, drawing: Drawing, area: Box): void {
  const points = drawing.map(pointsOf);
  const all = points.flat();
  if (all.length === 0) return;
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const scale = Math.min(
    (area.width - PEN.most) / Math.max(1, right - left),
    (area.height - PEN.most) / Math.max(1, bottom - top),
    (2 * area.width) / DRAWING_LIMITS.range,
  );
  sheet.path(points.map(curveThrough).join(' '), {
    x: area.x + PEN.most / 2 - left * scale,
    y: area.y + (area.height - (bottom - top) * scale) / 2 - top * scale,
    scale,
    color: COLORS.penBlue,
    width: Math.min(PEN.most, Math.max(PEN.least, PEN.pad * scale)),
  });
}

type Point = readonly [number, number];

function pointsOf(stroke: readonly number[]): Point[] {
  return stroke.flatMap((x, index) => (index % 2 === 0 ? [[x, stroke[index + 1] ?? 0] as const] : []));
}

/** Returns a smooth line through the middle of each segment, bent towards the point between them; a dot for a single point. */
function curveThrough(points: readonly Point[]): string {
  const bends = points.slice(1, -1).map(([x, y], index) => {
    const [nextX, nextY] = points[index + 2] ?? [x, y];
    return `Q ${x} ${y} ${(x + nextX) / 2} ${(y + nextY) / 2}`;
  });
  return `M ${points[0]?.join(' ')} ${bends.join(' ')} L ${points.at(-1)?.join(' ')}`;
}
