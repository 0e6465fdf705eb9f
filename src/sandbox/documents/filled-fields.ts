import { DRAWING_LIMITS, type Drawing, type FieldRecord, type SignerRecord } from '../model.ts';
import { type Box, COLORS, type Sheet, STYLES } from './sheet.ts';
import { formatTime } from './times.ts';
import { onOneLine, paragraphsOf } from './untrusted-text.ts';

/** Draws a value into its field. A value that is too long is shortened. */
export function drawFilledField(sheet: Sheet, field: FieldRecord, signer: SignerRecord): void {
  const { fieldId, type } = field;
  const value = signer.values[fieldId] ?? '';
  const drawing = signer.drawings?.[fieldId];
  // Below a signature, there is room for who signed it and when.
  const box = type === 'SIGNATURE' ? { ...field, height: field.height * 0.66 } : field;
  if (drawing !== undefined) drawInk(sheet, drawing, box);
  else if (value.trim() === '' || (type === 'CHECKBOX' && value !== 'true')) return;
  else if (type === 'SIGNATURE' || type === 'INITIALS') drawHandwriting(sheet, value, box);
  else drawValue(sheet, type === 'CHECKBOX' ? '×' : value, box);
  if (type === 'SIGNATURE') drawCaption(sheet, field, signer);
}

/** Draws the signer, the time, and the signature's ID at the bottom of a field. */
function drawCaption(sheet: Sheet, { x, y, width, height }: Box, signer: SignerRecord): void {
  const { name, signedAt, signatureId } = signer;
  const style = { ...STYLES.footer, size: Math.min(5.9, height * 0.11) };
  const place = { x: x + 8, width: width - 12 };
  const by = `Signed by ${onOneLine(name)} · ${formatTime(signedAt)}`;
  sheet.fittedLine(by, style, { ...place, y: y + height * 0.81 });
  sheet.fittedLine(`ID ${onOneLine(signatureId)}`, style, { ...place, y: y + height * 0.93 });
}

function drawHandwriting(sheet: Sheet, typed: string, { x, y, width, height }: Box): void {
  const text = onOneLine(typed);
  const byHand = sheet.fonts.face('hand').canEncode(text);
  const size = Math.min(27, height * 0.66);
  const style = { ...STYLES.body, color: COLORS.penBlue };
  // The fallback fonts look larger at the same size than the handwriting font.
  const look = byHand ? ({ ...style, use: 'hand', size } as const) : { ...style, size: size * 0.72 };
  sheet.fittedLine(text, look, { x: x + 8, y: y + height * 0.85, width: width - 12 });
}

/** Draws text in a box, as large as fits, on as many lines as fit. */
function drawValue(sheet: Sheet, value: string, { x, y, width, height }: Box): void {
  const ink = { ...STYLES.body, color: COLORS.penBlue };
  const room = { width: Math.max(width - 10, 6), height: height - 3, smallest: 6 };
  const { lines, style } = sheet.fonts.fit(paragraphsOf(value), ink, room);
  const space = Math.max(0, height - lines.length * style.leading);
  sheet.lines(lines, style, { x: x + Math.min(5, width / 4), top: y + Math.min(3, space / 2) });
}

/** The pen's width on the pad, in the pad's unit, and its minimum and maximum width on a document, in points. */
const PEN = { pad: 6, least: 0.5, most: 1.5 } as const;

/**
 * Draws strokes into an area, aligned left and at the top, as large as fits. The scale is limited to that of a pad twice as wide as the
 * area, so that a dot stays a dot.
 */
function drawInk(sheet: Sheet, drawing: Drawing, area: Box): void {
  const [xs, ys] = [0, 1].map((axis) =>
    drawing.flatMap((stroke) => stroke.filter((_, at) => at % 2 === axis)),
  );
  if (xs === undefined || ys === undefined) return;
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const scale = Math.min(
    (area.width - PEN.most) / Math.max(1, Math.max(...xs) - left),
    (area.height - PEN.most) / Math.max(1, Math.max(...ys) - top),
    (2 * area.width) / DRAWING_LIMITS.range,
  );
  const paths = drawing.map((stroke) => `M ${stroke.slice(0, 2).join(' ')} L ${stroke.join(' ')}`);
  sheet.ink(paths.join(' '), {
    x: area.x + PEN.most / 2 - left * scale,
    y: area.y + PEN.most / 2 - top * scale,
    scale,
    width: Math.min(PEN.most, Math.max(PEN.least, PEN.pad * scale)),
  });
}
