import { type Drawing, type FieldRecord, MIN_MULTILINE_HEIGHT, type SignerRecord } from '../../model.ts';
import type { Sheet } from '../pdf/sheet.ts';
import type { Typesetter } from '../text/typesetter.ts';
import { oneLine, paragraphsOf, quoted } from '../text/untrusted.ts';
import { drawInk } from './ink.ts';
import { COLORS, drawFitted, drawLine, type Pen, STYLES } from './pen.ts';
import { dayOf, inUtc } from './times.ts';

/** Returns the value that a signer entered into a field, or a default if the field requires one and nothing was entered. */
export function fieldValue(field: FieldRecord, signer: SignerRecord): string {
  const typed = signer.values[field.fieldId] ?? '';
  if (typed.trim() !== '' || !field.required) return typed;
  if (field.type === 'SIGNATURE') return signer.name;
  if (field.type === 'INITIALS') return initialsOf(signer.name);
  return field.type === 'DATE' && signer.signedAt !== null ? dayOf(signer.signedAt) : '';
}

/** Returns the signer's first drawn signature, if there is one. */
export function drawnSignature(fields: readonly FieldRecord[], signer: SignerRecord): Drawing | undefined {
  const field = fields.find(({ type, fieldId }) => type === 'SIGNATURE' && signer.drawings?.[fieldId]);
  return field && signer.drawings?.[field.fieldId];
}

/** Draws a value into its field. Returns false if only part of it fits. */
export function drawFilledField(pen: Pen, field: FieldRecord, signer: SignerRecord): boolean {
  const drawn = signer.drawings?.[field.fieldId];
  if (drawn !== undefined) return drawByHand(pen, field, signer, drawn);
  const value = fieldValue(field, signer);
  if (field.type === 'CHECKBOX') {
    if (value === 'true') drawTick(pen.sheet, field);
    return true;
  }
  if (value.trim() === '') return true;
  switch (field.type) {
    case 'SIGNATURE':
      return drawSignature(pen, field, signer, value);
    case 'INITIALS':
      return drawHandwriting(pen, value, {
        x: field.x + 6,
        y: field.y + field.height - 7,
        width: field.width - 12,
        size: Math.min(17, field.height * 0.66),
      });
    case 'DROPDOWN':
      return drawValue(pen, { ...field, width: field.width - 14 }, value);
    case 'DATE':
    case 'TEXT':
      return drawValue(pen, field, value);
  }
}

function drawByHand(pen: Pen, field: FieldRecord, signer: SignerRecord, drawn: Drawing): boolean {
  if (field.type === 'SIGNATURE') return drawSignature(pen, field, signer, drawn);
  const inset = Math.min(3, field.height * 0.1);
  drawInk(pen.sheet, drawn, {
    x: field.x + inset,
    y: field.y + inset,
    width: field.width - 2 * inset,
    height: field.height - 2 * inset,
  });
  return true;
}

type Box = Pick<FieldRecord, 'x' | 'y' | 'width' | 'height'>;

/** Draws a signature, typed or drawn, and below it the signer, the time, and the signature's ID. */
export function drawSignature(pen: Pen, box: Box, signer: SignerRecord, hand: string | Drawing): boolean {
  const inset = Math.min(16, box.width * 0.08);
  const width = box.width - inset - 4;
  const x = box.x + inset;
  let complete = true;
  if (typeof hand === 'string') {
    const size = Math.min(27, box.height * 0.44);
    complete = drawHandwriting(pen, hand, { x, y: box.y + box.height * 0.56, width, size });
  } else {
    drawInk(pen.sheet, hand, { x, y: box.y + box.height * 0.04, width, height: box.height * 0.64 });
  }
  const caption = { ...STYLES.footer, size: Math.min(5.9, box.height * 0.11) };
  const place = { x, width, smallest: 4.4 };
  drawFitted(pen, signedBy(pen.type, signer, width, place.smallest), caption, {
    ...place,
    y: box.y + box.height * 0.81,
  });
  drawFitted(pen, `ID ${quoted(signer.signatureId)}`, caption, {
    ...place,
    y: box.y + box.height * 0.93,
  });
  return complete;
}

/** Returns the signer and time on one line. A name that leaves no room for the time is shortened. */
function signedBy(type: Typesetter, signer: SignerRecord, width: number, size: number): string {
  const time = ` · ${inUtc(signer.signedAt)}`;
  const room = width - type.width(`Signed by ${time}`, STYLES.footer.use, size);
  const options = { width: room, height: 0, largest: size, smallest: size, leading: 1 };
  const [name = ''] = type.fit([oneLine(signer.name)], STYLES.footer.use, options).lines;
  return `Signed by ${quoted(name)}${time}`;
}

function drawHandwriting(
  pen: Pen,
  typed: string,
  { size, width, x, y }: { x: number; y: number; width: number; size: number },
): boolean {
  const text = oneLine(typed);
  const byHand = pen.type.covers(text, 'hand');
  const use = byHand ? 'hand' : 'text';
  // The fallback fonts look larger at the same size than the handwriting font.
  const largest = byHand ? size : size * 0.72;
  const slack = byHand ? 0 : largest * 0.2;
  const fitted = pen.type.fit([text], use, {
    width: width - slack,
    height: 0,
    largest,
    smallest: size * 0.22,
    leading: 1,
  });
  const style = { use, size: fitted.size, leading: 0, color: COLORS.penBlue } as const;
  drawLine(pen, fitted.lines[0] ?? '', style, { x, y, base: fitted.direction, slanted: !byHand });
  return fitted.complete;
}

/** Draws text in a box, as large as fits, on as many lines as fit. */
function drawValue(pen: Pen, box: Box, value: string): boolean {
  const ending = box.width > 200 ? '… (in full on an appended page)' : '…';
  const options = {
    width: box.width - 10,
    height: box.height - 3,
    largest: 10,
    smallest: 6,
    leading: 1.22,
    ending,
  };
  const fitted = pen.type.fit(paragraphsOf(value), 'text', options);
  const leading = fitted.size * options.leading;
  const isTall = box.height > MIN_MULTILINE_HEIGHT;
  const height = leading * fitted.lines.length;
  const top = isTall ? box.y + 3 : box.y + (box.height - height) / 2;
  for (const [index, text] of fitted.lines.entries()) {
    const y = top + leading * (index + 0.5) + fitted.size * 0.36;
    const style = { ...STYLES.body, size: fitted.size, color: COLORS.penBlue };
    if (fitted.direction === 'rtl') {
      drawLine(pen, text, style, { x: box.x + box.width - 5, y, base: 'rtl', align: 'right' });
    } else {
      drawLine(pen, text, style, { x: box.x + 5, y, base: 'ltr' });
    }
  }
  return fitted.complete;
}

function drawTick(sheet: Sheet, { x, y, width, height }: Box): void {
  const points = [
    [x + width * 0.18, y + height * 0.52],
    [x + width * 0.42, y + height * 0.78],
    [x + width * 0.88, y + height * 0.16],
  ] as const;
  sheet.stroke(points, { color: COLORS.penBlue, width: Math.max(1, width * 0.13) });
}

/** Returns the first letters of up to four words; for a name without spaces, its first character. */
export function initialsOf(name: string): string {
  const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
  return oneLine(name)
    .split(' ')
    .slice(0, 4)
    .map((word) => [...graphemes.segment(word)][0]?.segment ?? '')
    .join('');
}
