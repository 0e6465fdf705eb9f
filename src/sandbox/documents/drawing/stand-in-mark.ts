import type { Sheet } from '../pdf/sheet.ts';
import { PAGE } from '../templates/design.ts';
import type { Typesetter } from '../text/typesetter.ts';
import { COLORS, drawLine, STYLES } from './pen.ts';

/** Marks a page that replaces one from another account, so that it can't be mistaken for the page that signers will see. */
export function drawStandInMark(sheet: Sheet, type: Typesetter): void {
  const style = { ...STYLES.title, size: 30, color: COLORS.warning };
  drawLine(sheet, type, 'STAND-IN', style, { x: sheet.width / 2, y: 168, align: 'center' });
  const note = 'The fields are those of your template. Signers will see the pages of the real document.';
  drawLine(sheet, type, note, STYLES.small, { x: sheet.width / 2, y: 182, align: 'center' });
  sheet.box(PAGE.left - 8, 138, PAGE.width + 16, 50, { stroke: COLORS.warning, width: 0.8 });
}
