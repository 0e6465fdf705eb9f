import { quoted } from '../text/untrusted.ts';
import { COLORS, drawFitted, drawLine, type Pen, STYLES } from './pen.ts';

/** The distance of the marks from the page's edges, in points. */
const MARGIN = 64;

/** Marks a page of a signed document with its envelope's ID and a note that it is not legally binding. */
export function drawSandboxMark(pen: Pen, envelopeId: string): void {
  const right = pen.sheet.view.width - MARGIN;
  const bottom = pen.sheet.view.height - 29;
  const id = `Envelope ${quoted(envelopeId)}`;
  drawFitted(pen, id, STYLES.footer, { x: MARGIN, y: bottom, width: 250, smallest: 5 });
  const notice = { ...STYLES.footer, color: COLORS.warning };
  const text = 'Made in a sandbox. Not legally binding.';
  drawLine(pen, text, notice, { x: right, y: bottom, align: 'right' });

  const style = { ...STYLES.footer, use: 'strong', size: 6.4, color: COLORS.warning } as const;
  const width = pen.type.width('SANDBOX', style.use, style.size) + 7 * 1.2;
  pen.sheet.box(right - width - 11, 25, width + 11, 14, { stroke: COLORS.warning, width: 0.6 });
  drawLine(pen, 'SANDBOX', style, { x: right - width - 5, y: 34.3, tracking: 1.2 });
}
