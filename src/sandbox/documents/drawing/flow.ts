import type { Drawing } from '../../model.ts';
import type { Pdf } from '../pdf/pdf.ts';
import type { Typesetter } from '../text/typesetter.ts';
import { quoted } from '../text/untrusted.ts';
import { drawInk } from './ink.ts';
import { baseline, COLORS, drawLine, drawParagraph, type Pen, STYLES } from './pen.ts';

/** The column of pages whose length depends on their content. */
export const FLOW = { left: 64, right: 531, width: 467, top: 62, bottom: 774 } as const;

/** Content that runs over as many pages as it needs. */
export interface Flow extends Pen {
  /** The position of the next item, in points from the top. */
  top: number;
  /** Starts a new page if less than `height` points are left. Returns true if it did. */
  ensureSpace(height: number): boolean;
  title(text: string, subtitle: string): void;
  /** Draws a section's heading, kept together with the next `following` points of content. */
  heading(text: string, following: number): void;
  note(text: string): void;
  /** Draws a label and a value, which may take several lines and pages. */
  fact(label: string, value: readonly string[], options?: { mono?: boolean }): void;
  /** Draws a label and a drawn signature. */
  ink(label: string, drawing: Drawing): void;
  rule(): void;
}

const LABEL_WIDTH = 116;

/** Creates a flow, which appends pages to the document, the first one immediately. */
export function createFlow(pdf: Pdf, type: Typesetter): Flow {
  let sheet = pdf.addSheet();
  const flow: Flow = {
    type,
    get sheet() {
      return sheet;
    },
    top: FLOW.top,
    ensureSpace(height) {
      if (flow.top + height <= FLOW.bottom) return false;
      sheet = pdf.addSheet();
      flow.top = FLOW.top;
      return true;
    },
    title(text, subtitle) {
      const place = { x: FLOW.left, width: FLOW.width };
      const below = drawParagraph(flow, text, STYLES.title, { ...place, top: flow.top });
      const end = drawParagraph(flow, subtitle, STYLES.small, { ...place, top: below + 1 });
      sheet.line([FLOW.left, end + 9], [FLOW.right, end + 9], { color: COLORS.hairline, width: 0.75 });
      sheet.line([FLOW.left, end + 9], [FLOW.left + 42, end + 9], { color: COLORS.accent, width: 1.5 });
      flow.top = end + 20;
    },
    heading(text, following) {
      flow.ensureSpace(34 + following);
      flow.top = drawParagraph(flow, text, STYLES.heading, {
        x: FLOW.left,
        top: flow.top + 12,
        width: FLOW.width,
      });
      flow.top += 4;
    },
    note(text) {
      const lines = type.wrap(text, STYLES.small.use, STYLES.small.size, FLOW.width).length;
      flow.ensureSpace(lines * STYLES.small.leading);
      flow.top =
        drawParagraph(flow, text, STYLES.small, { x: FLOW.left, top: flow.top, width: FLOW.width }) + 4;
    },
    fact(label, value, options = {}) {
      const style = options.mono === true ? STYLES.mono : { ...STYLES.body, size: 9, leading: 12.5 };
      const width = FLOW.width - LABEL_WIDTH;
      const lines = value.flatMap((paragraph) => type.wrap(paragraph, style.use, style.size, width));
      const labelStyle = { ...STYLES.small, leading: 12.5 };
      const labels = type.wrap(label, labelStyle.use, labelStyle.size, LABEL_WIDTH - 12);
      flow.ensureSpace(Math.min(Math.max(lines.length, labels.length), 3) * 12.5);
      for (const [index, text] of labels.slice(0, 3).entries()) {
        drawLine(flow, text, labelStyle, {
          x: FLOW.left,
          y: baseline(flow.top + index * 12.5, labelStyle),
        });
      }
      const afterLabels = flow.top + Math.min(labels.length, 3) * 12.5;
      let turned = false;
      for (const text of lines) {
        turned = flow.ensureSpace(12.5) || turned;
        drawLine(flow, text, style, {
          x: FLOW.left + LABEL_WIDTH,
          y: baseline(flow.top, { ...style, leading: 12.5 }),
        });
        flow.top += 12.5;
      }
      flow.top = (turned ? flow.top : Math.max(flow.top, afterLabels)) + 2.5;
    },
    ink(label, drawing) {
      flow.ensureSpace(30);
      const style = { ...STYLES.small, leading: 12.5 };
      drawLine(flow, label, style, { x: FLOW.left, y: baseline(flow.top, style) });
      drawInk(sheet, drawing, { x: FLOW.left + LABEL_WIDTH, y: flow.top, width: 120, height: 26 });
      flow.top += 30;
    },
    rule() {
      sheet.line([FLOW.left, flow.top], [FLOW.right, flow.top], { color: COLORS.hairline, width: 0.5 });
    },
  };
  return flow;
}

/** Draws the footer of a page that a flow appended: what the page belongs to, and its number. */
export function drawFlowFooter(pen: Pen, left: string, right: string): void {
  pen.sheet.line([FLOW.left, 790], [FLOW.right, 790], { color: COLORS.hairline, width: 0.5 });
  drawLine(pen, quoted(left), STYLES.footer, { x: FLOW.left, y: 801 });
  drawLine(pen, right, STYLES.footer, { x: FLOW.right, y: 801, align: 'right' });
}
