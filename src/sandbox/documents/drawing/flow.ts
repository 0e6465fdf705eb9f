import type { Pdf } from '../pdf/pdf.ts';
import { onOneLine } from '../text/untrusted.ts';
import {
  baseline,
  COLORS,
  type Column,
  drawFitted,
  drawLine,
  drawParagraph,
  drawTitle,
  type Pen,
  STYLES,
  type TextStyle,
} from './pen.ts';

/** The column of pages whose length depends on their content. */
const FLOW = { left: 64, right: 531, width: 467, top: 62, bottom: 774 };

const LABEL_WIDTH = 116;
/** The line height of facts. */
const LINE = 12.5;
const LABEL_STYLE = { ...STYLES.small, leading: LINE };
const FACT_STYLE = { ...STYLES.body, size: 9, leading: LINE };

export type Flow = ReturnType<typeof createFlow>;

/** Creates content that runs over as many pages as it needs. They are appended to the document, the first one immediately. */
export function createFlow(pdf: Pdf) {
  const { type } = pdf;
  const flow = {
    type,
    sheet: pdf.addSheet(),
    /** The position of the next item, in points from the top. */
    top: FLOW.top,
    /** Starts a new page if less than `height` points are left. Returns true if it did. */
    ensureSpace(height: number): boolean {
      if (flow.top + height <= FLOW.bottom) return false;
      flow.sheet = pdf.addSheet();
      flow.top = FLOW.top;
      return true;
    },
    title(text: string, subtitle: string): void {
      flow.top = drawTitle(flow, text, subtitle, columnAt(flow.top)) + 11;
    },
    /** Draws a section's heading, kept together with the next `following` points of content. */
    heading(text: string, following: number): void {
      flow.ensureSpace(34 + following);
      flow.top = drawParagraph(flow, text, STYLES.heading, columnAt(flow.top + 12)) + 4;
    },
    /** Draws a label and a value, which may take several lines and pages. */
    fact(label: string, value: readonly string[], style: TextStyle = FACT_STYLE): void {
      const width = FLOW.width - LABEL_WIDTH;
      const lines = value.flatMap((paragraph) => type.wrap(paragraph, style.use, style.size, width));
      const labels = type.wrap(label, LABEL_STYLE.use, LABEL_STYLE.size, LABEL_WIDTH - 12).slice(0, 3);
      flow.ensureSpace(Math.min(Math.max(lines.length, labels.length), 3) * LINE);
      for (const [index, text] of labels.entries())
        drawLine(flow, text, LABEL_STYLE, {
          x: FLOW.left,
          y: baseline(flow.top + index * LINE, LABEL_STYLE),
        });
      const afterLabels = flow.top + labels.length * LINE;
      let turned = false;
      for (const text of lines) {
        turned = flow.ensureSpace(LINE) || turned;
        const y = baseline(flow.top, { ...style, leading: LINE });
        drawLine(flow, text, style, { x: FLOW.left + LABEL_WIDTH, y });
        flow.top += LINE;
      }
      flow.top = (turned ? flow.top : Math.max(flow.top, afterLabels)) + 2.5;
    },
  };
  return flow;
}

function columnAt(top: number): Column {
  return { x: FLOW.left, top, width: FLOW.width };
}

/** Draws the footer of a page that a flow appended: what the page belongs to, and its number. */
export function drawFooter(pen: Pen, left: string, right: string): void {
  pen.sheet.line(FLOW.left, 790, FLOW.width, { color: COLORS.hairline, width: 0.5 });
  drawFitted(pen, onOneLine(left), STYLES.footer, { x: FLOW.left, y: 801, width: 340 });
  drawLine(pen, right, STYLES.footer, { x: FLOW.right, y: 801, align: 'right' });
}

/** The distance of the marks from the page's edges, in points. */
const MARGIN = 64;

/** Marks a page of a signed document with its envelope's ID and a note that it is not legally binding. */
export function drawSandboxMark(pen: Pen, envelopeId: string): void {
  const right = pen.sheet.size.width - MARGIN;
  const bottom = pen.sheet.size.height - 29;
  const id = `Envelope ${onOneLine(envelopeId)}`;
  drawFitted(pen, id, STYLES.footer, { x: MARGIN, y: bottom, width: 250, smallest: 5 });
  const notice = { ...STYLES.footer, color: COLORS.warning };
  const text = 'Made in a sandbox. Not legally binding.';
  drawLine(pen, text, notice, { x: right, y: bottom, align: 'right' });

  const style = { ...STYLES.footer, use: 'strong', size: 6.4, color: COLORS.warning } as const;
  const width = pen.type.width('SANDBOX', style.use, style.size);
  pen.sheet.box(right - width - 11, 25, width + 11, 14, { stroke: COLORS.warning, width: 0.6 });
  drawLine(pen, 'SANDBOX', style, { x: right - width - 5, y: 34.3 });
}
