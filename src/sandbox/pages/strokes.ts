import { DRAWING, type Drawing } from '../model.ts';

const POINT = String.raw`\d{1,4},\d{1,4}`;
const TEXT = new RegExp(`^${POINT}(?:[ ;]${POINT})*$`);
/** The maximum length of the text, with four digits per coordinate and separators. */
const MAX_LENGTH = DRAWING.points * '1000,1000 '.length;

/**
 * Parses a drawing as posted by a form: points `x,y` separated by spaces, strokes separated by semicolons. Returns undefined for any other
 * text, or if a limit of drawings is exceeded.
 */
export function readDrawing(text: string): Drawing | undefined {
  if (text.length > MAX_LENGTH || !TEXT.test(text)) return undefined;
  const strokes = text.split(';').map((stroke) => stroke.split(/[ ,]/).map(Number));
  const points = strokes.reduce((sum, stroke) => sum + stroke.length / 2, 0);
  if (strokes.length > DRAWING.strokes || points > DRAWING.points) return undefined;
  return strokes.every((stroke) => stroke.every((value) => value <= DRAWING.range)) ? strokes : undefined;
}
