import { type Drawing, type FieldRecord, MIN_MULTILINE_HEIGHT, type SignerRecord } from '../../model.ts';
import type { PdfSheet } from '../pdf/sheet.ts';
import type { Typesetter } from '../text/typesetter.ts';
import { onOneLine, paragraphsOf } from '../text/untrusted.ts';
import { drawInk } from './ink.ts';
import { type Box, baseline, COLORS, drawFitted, drawLine, type Pen, STYLES } from './pen.ts';
import { formatTime } from './times.ts';

/** Returns what a signer entered into a field or drew there. */
function inputOf({ fieldId }: FieldRecord, signer: SignerRecord): string | Drawing {
  return signer.drawings?.[fieldId] ?? signer.values[fieldId] ?? '';
}

/** Returns what a signer entered or drew, or a default if the field requires a value and has no other. */
function valueIn(field: FieldRecord, signer: SignerRecord): string | Drawing {
  const input = inputOf(field, signer);
  if (typeof input !== 'string' || input.trim() !== '' || !field.required) return input;
  if (field.type === 'SIGNATURE') return signer.name;
  if (field.type === 'INITIALS') return initialsOf(signer.name);
  return field.type === 'DATE' && signer.signedAt !== null ? signer.signedAt.slice(0, 10) : '';
}

/** Draws a value into its field. A value that is too long is shortened. */
export function drawFilledField(pen: Pen, field: FieldRecord, signer: SignerRecord): void {
  const { type, x, y, width, height } = field;
  const value = valueIn(field, signer);
  if (typeof value === 'string' && value.trim() === '') return;
  if (type === 'SIGNATURE') {
    drawSignature(pen, field, signer, value);
    return;
  }
  if (typeof value !== 'string') {
    const inset = Math.min(3, height * 0.1);
    const inner = { x: x + inset, y: y + inset, width: width - 2 * inset, height: height - 2 * inset };
    drawInk(pen.sheet, value, inner);
    return;
  }
  switch (type) {
    case 'CHECKBOX':
      if (value === 'true') drawTick(pen.sheet, field);
      return;
    case 'INITIALS': {
      const size = Math.min(17, height * 0.66);
      drawHandwriting(pen, value, { x: x + 6, y: y + height - 7, width: width - 12, size });
      return;
    }
    case 'DROPDOWN':
      drawValue(pen, { ...field, width: width - 14 }, value);
      return;
    case 'DATE':
    case 'TEXT':
      drawValue(pen, field, value);
  }
}

/** Draws a signature, typed or drawn, and below it the signer, the time, and the signature's ID. */
function drawSignature(pen: Pen, box: Box, signer: SignerRecord, hand: string | Drawing): void {
  const inset = Math.min(16, box.width * 0.08);
  const width = box.width - inset - 4;
  const x = box.x + inset;
  if (typeof hand === 'string') {
    const size = Math.min(27, box.height * 0.44);
    drawHandwriting(pen, hand, { x, y: box.y + box.height * 0.56, width, size });
  } else {
    drawInk(pen.sheet, hand, { x, y: box.y + box.height * 0.04, width, height: box.height * 0.64 });
  }
  const caption = { ...STYLES.footer, size: Math.min(5.9, box.height * 0.11) };
  const place = { x, width, smallest: 4.4 };
  const by = signedBy(pen.type, signer, width, place.smallest);
  drawFitted(pen, by, caption, { ...place, y: box.y + box.height * 0.81 });
  drawFitted(pen, `ID ${onOneLine(signer.signatureId)}`, caption, { ...place, y: box.y + box.height * 0.93 });
}

/** Returns the signer and time on one line. A name that leaves no room for the time is shortened. */
function signedBy(type: Typesetter, signer: SignerRecord, width: number, size: number): string {
  const time = ` · ${formatTime(signer.signedAt)}`;
  const room = width - type.width(`Signed by ${time}`, STYLES.footer.use, size);
  const options = { width: room, largest: size, smallest: size };
  const [name = ''] = type.fit([onOneLine(signer.name)], STYLES.footer.use, options).lines;
  return `Signed by ${onOneLine(name)}${time}`;
}

function drawHandwriting(
  pen: Pen,
  typed: string,
  { size, width, x, y }: { x: number; y: number; width: number; size: number },
): void {
  const text = onOneLine(typed);
  const byHand = pen.type.face('hand').canEncode(text);
  const use = byHand ? 'hand' : 'text';
  // The fallback fonts look larger at the same size than the handwriting font.
  const largest = byHand ? size : size * 0.72;
  const fitted = pen.type.fit([text], use, { width, largest, smallest: size * 0.22 });
  const style = { use, size: fitted.size, leading: 0, color: COLORS.penBlue } as const;
  drawLine(pen, fitted.lines[0] ?? '', style, { x, y });
}

/** Draws text in a box, as large as fits, on as many lines as fit. */
function drawValue(pen: Pen, box: Box, value: string): void {
  const options = {
    width: box.width - 10,
    height: box.height - 3,
    largest: 10,
    smallest: 6,
    leading: 1.22,
  };
  const fitted = pen.type.fit(paragraphsOf(value), 'text', options);
  const leading = fitted.size * options.leading;
  const isTall = box.height > MIN_MULTILINE_HEIGHT;
  const height = leading * fitted.lines.length;
  const top = isTall ? box.y + 3 : box.y + (box.height - height) / 2;
  const style = { ...STYLES.body, size: fitted.size, leading, color: COLORS.penBlue };
  for (const [index, text] of fitted.lines.entries())
    drawLine(pen, text, style, { x: box.x + 5, y: baseline(top + leading * index, style) });
}

function drawTick(sheet: PdfSheet, { x, y, width }: Box): void {
  const style = { color: COLORS.penBlue, width: Math.max(1, width * 0.13) };
  sheet.path('M 0.18 0.52 L 0.42 0.78 L 0.88 0.16', { x, y, scale: width, ...style });
}

/** Returns the first letters of up to four words; for a name without spaces, its first character. */
function initialsOf(name: string): string {
  return onOneLine(name)
    .split(' ')
    .slice(0, 4)
    .map((word) => [...word][0] ?? '')
    .join('');
}
