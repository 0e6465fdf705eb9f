import { DRAWING_LIMITS, type Drawing } from '../../model.ts';
import type { Sheet } from '../pdf/sheet.ts';
import { type Box, COLORS } from './pen.ts';

/** The pen's width on the pad, in the pad's unit, and its minimum and maximum width on a document, in points. */
const PEN = { pad: 6, least: 0.5, most: 1.5 } as const;

/**
 * Draws strokes into an area, aligned left and centered vertically, as large as fits. The scale is limited to that of a pad twice as wide
 * as the area, so that a dot stays a dot. Nothing is drawn outside the area.
 */
export function drawInk(sheet: Sheet, drawing: Drawing, area: Box): void {
  const strokes = drawing.map(pointsOf);
  const all = strokes.flat();
  if (all.length === 0) return;
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const inner = { width: area.width - PEN.most, height: area.height - PEN.most };
  const scale = Math.min(
    inner.width / Math.max(1, right - left),
    inner.height / Math.max(1, bottom - top),
    (2 * area.width) / DRAWING_LIMITS.range,
  );
  const dx = area.x + PEN.most / 2 - left * scale;
  const dy = area.y + (area.height - (bottom - top) * scale) / 2 - top * scale;
  const width = Math.min(PEN.most, Math.max(PEN.least, PEN.pad * scale));
  for (const stroke of strokes) {
    const points = stroke.map(([x, y]) => [dx + x * scale, dy + y * scale] as const);
    sheet.curve(points, { color: COLORS.penBlue, width });
  }
}

function pointsOf(stroke: readonly number[]): (readonly [number, number])[] {
  const points: (readonly [number, number])[] = [];
  for (let index = 0; index + 1 < stroke.length; index += 2) {
    points.push([stroke[index] ?? 0, stroke[index + 1] ?? 0]);
  }
  return points;
}
