import { DRAWING, type Drawing } from '../model.ts';

const POINT = String.raw`\d{1,4},\d{1,4}`;
const TEXT = new RegExp(`^${POINT}(?:[ ;]${POINT})*$`);
/** Every point at its longest, with what stands between two. */
const LONGEST = DRAWING.points * '1000,1000 '.length;

/**
 * A drawing as a form posts it: points `x,y` with a space between two and a semicolon between strokes.
 * Undefined for any other text, and for more or farther points than a drawing may hold.
 */
export function readDrawing(text: string): Drawing | undefined {
  if (text.length > LONGEST || !TEXT.test(text)) return undefined;
  const strokes = text.split(';').map((stroke) => stroke.split(/[ ,]/).map(Number));
  const points = strokes.reduce((sum, stroke) => sum + stroke.length / 2, 0);
  if (strokes.length > DRAWING.strokes || points > DRAWING.points) return undefined;
  return strokes.every((stroke) => stroke.every((value) => value <= DRAWING.range)) ? strokes : undefined;
}
