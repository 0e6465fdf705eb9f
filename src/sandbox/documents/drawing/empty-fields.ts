import type { FieldRecord } from '../../model.ts';
import type { Sheet } from '../pdf/sheet.ts';
import type { Typesetter } from '../text/typesetter.ts';
import { quoted } from '../text/untrusted.ts';
import { COLORS, drawFitted, drawLine, STYLES } from './pen.ts';

/** Draws an empty field: its box, and its label above it or, for a checkbox, next to it. */
export function drawEmptyField(sheet: Sheet, type: Typesetter, field: FieldRecord): void {
  drawLabel(sheet, type, field);
  const { x, y, width, height } = field;
  if (field.type === 'CHECKBOX') {
    sheet.box(x, y, width, height, { fill: [1, 1, 1], stroke: COLORS.grey, width: 0.75 });
    return;
  }
  sheet.box(x, y, width, height, { fill: COLORS.tint });
  sheet.line([x, y + height], [x + width, y + height], { color: COLORS.grey, width: 0.6 });
  if (field.type === 'SIGNATURE') {
    drawLine(sheet, type, '×', { ...STYLES.body, color: COLORS.faint }, { x: x + 5, y: y + height - 24 });
  }
  if (field.type === 'DROPDOWN') {
    const middle = y + height / 2;
    const right = x + width - 8;
    const chevron = [
      [right - 7, middle - 2],
      [right - 3.5, middle + 1.8],
      [right, middle - 2],
    ] as const;
    sheet.stroke(chevron, { color: COLORS.faint, width: 0.9 });
  }
}

/** Draws a thin outline for a field on uploaded pages, which already have their own labels and lines. */
export function drawFieldPlace(sheet: Sheet, { x, y, width, height, type }: FieldRecord): void {
  const dash = type === 'CHECKBOX' ? [] : [2, 2];
  sheet.box(x, y, width, height, { stroke: COLORS.faint, width: 0.5, dash });
}

function drawLabel(sheet: Sheet, type: Typesetter, field: FieldRecord): void {
  const text = quoted(field.label);
  if (field.type === 'CHECKBOX') {
    const left = field.x + field.width + 8;
    const middle = field.y + field.height / 2 + 3.3;
    drawLine(sheet, type, text, { ...STYLES.body, size: 9.2 }, { x: left, y: middle });
    return;
  }
  const mark = field.required ? '' : ' (optional)';
  const width = Math.max(field.width, 70);
  drawFitted(sheet, type, text + mark, STYLES.label, { x: field.x, y: field.y - 4, width, smallest: 5 });
}
