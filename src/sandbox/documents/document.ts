import { white } from '@libpdf/core';
import type { FieldRecord, TemplateRecord } from '../model.ts';
import { drawFooter } from './drawing/flow.ts';
import {
  baseline,
  COLORS,
  drawFieldBox,
  drawFitted,
  drawLine,
  drawParagraph,
  drawTitle,
  type Pen,
  STYLES,
} from './drawing/pen.ts';
import { createPdf, type PdfInfo } from './pdf/pdf.ts';
import { BUILT_IN, PAGE, type Region, type TextBlock } from './templates/built-in-templates.ts';
import { onOneLine } from './text/untrusted.ts';

/**
 * Draws document.pdf: the template's pages with empty fields. For a template that isn't built in, the pages show only its name and fields.
 */
export async function drawDocument(template: TemplateRecord): Promise<Uint8Array> {
  const pdf = createPdf();
  const { type } = pdf;
  const known = template.standIn ? undefined : BUILT_IN.find(({ record }) => record.id === template.id);
  const count = Math.max(1, template.pageCount);
  for (let page = 1; page <= count; page++) {
    const pen = { sheet: pdf.addSheet(), type };
    for (const region of known?.pages[page - 1] ?? []) drawRegion(pen, region);
    if (!known && page === 1) drawRegion(pen, nameOnly(template));
    for (const field of template.fields) if (field.page === page) drawEmptyField(pen, field);
    if (template.standIn) drawStandInMark(pen);
    drawFooter(pen, template.name, `Page ${page} of ${count}`);
  }
  return pdf.save(infoOf(template));
}

function infoOf({ id, name, description, createdAt }: TemplateRecord): PdfInfo {
  return { title: onOneLine(name), subject: onOneLine(description), keywords: [id], at: createdAt };
}

function nameOnly({ name, description }: TemplateRecord): Region {
  const { top, bottom } = PAGE;
  return {
    top,
    bottom,
    blocks: [{ kind: 'title', text: onOneLine(name), subtitle: onOneLine(description) }],
  };
}

/** Marks a page that replaces one from another account, so that it can't be mistaken for the page that signers will see. */
function drawStandInMark(pen: Pen): void {
  const style = { ...STYLES.title, size: 30, color: COLORS.warning };
  drawLine(pen, 'STAND-IN', style, { x: pen.sheet.size.width / 2, y: 168, align: 'center' });
  const note = 'The fields come from your template. Signers will see the pages of the real document.';
  drawLine(pen, note, STYLES.small, { x: pen.sheet.size.width / 2, y: 182, align: 'center' });
  pen.sheet.box(PAGE.left - 8, 138, PAGE.width + 16, 50, { stroke: COLORS.warning, width: 0.8 });
}

/** Draws an empty field: its box, and its label above it or, for a checkbox, next to it. */
function drawEmptyField(pen: Pen, field: FieldRecord): void {
  drawLabel(pen, field);
  const { x, y, width, height } = field;
  if (field.type === 'CHECKBOX') {
    pen.sheet.box(x, y, width, height, { fill: white, stroke: COLORS.grey, width: 0.75 });
    return;
  }
  drawFieldBox(pen.sheet, field);
  if (field.type === 'SIGNATURE') {
    drawLine(pen, '×', { ...STYLES.body, color: COLORS.faint }, { x: x + 5, y: y + height - 24 });
  }
  if (field.type === 'DROPDOWN') {
    const style = { color: COLORS.faint, width: 0.9 };
    pen.sheet.path('M -7 -2 L -3.5 1.8 L 0 -2', { x: x + width - 8, y: y + height / 2, ...style });
  }
}

function drawLabel(pen: Pen, field: FieldRecord): void {
  const text = onOneLine(field.label);
  if (field.type === 'CHECKBOX') {
    const left = field.x + field.width + 8;
    const middle = field.y + field.height / 2 + 3.3;
    drawLine(pen, text, { ...STYLES.body, size: 9.2 }, { x: left, y: middle });
    return;
  }
  const mark = field.required ? '' : ' (optional)';
  const width = Math.max(field.width, 70);
  drawFitted(pen, text + mark, STYLES.label, { x: field.x, y: field.y - 4, width, smallest: 5 });
}

/** The indent of a clause's text from its number, in points. */
const INDENT = 28;

/** Draws a region's blocks. Throws if they don't fit, because there are fields below the region. */
function drawRegion(pen: Pen, region: Region): void {
  const column = { x: region.x ?? PAGE.left, width: region.width ?? PAGE.width };
  let top = region.top;
  for (const [index, block] of region.blocks.entries()) {
    const before = region.blocks[index - 1];
    const endsList = isSubclause(before) && !isSubclause(block);
    top = drawBlock(pen, block, column, endsList ? top + 4 : top);
  }
  if (top > region.bottom) {
    throw new Error(`The text exceeds its region by ${(top - region.bottom).toFixed(1)} points.`);
  }
}

function drawBlock(
  pen: Pen,
  block: TextBlock,
  { x, width }: { x: number; width: number },
  top: number,
): number {
  switch (block.kind) {
    case 'title':
      return drawTitle(pen, block.text, block.subtitle, { x, top, width }) + 13;
    case 'heading': {
      // The number is aligned with those of the clauses.
      const [, number = '', text = ''] = /^(?:(\d+) {2})?(.*)$/su.exec(block.text) ?? [];
      const indent = number === '' ? 0 : INDENT;
      drawLine(pen, number, STYLES.heading, { x, y: baseline(top + 10, STYLES.heading) });
      const place = { x: x + indent, top: top + 10, width: width - indent };
      return drawParagraph(pen, text, STYLES.heading, place) + 4;
    }
    case 'paragraph':
    case 'note': {
      const style = block.kind === 'note' ? STYLES.small : STYLES.body;
      return drawParagraph(pen, block.text, style, { x, top, width }) + 6;
    }
    case 'clause': {
      const indent = block.depth === 1 ? 2 * INDENT - 6 : INDENT;
      const numberAt = block.depth === 1 ? INDENT : 0;
      drawLine(pen, block.number, STYLES.body, { x: x + numberAt, y: baseline(top, STYLES.body) });
      const place = { x: x + indent, top, width: width - indent };
      return drawParagraph(pen, block.text, STYLES.body, place) + (block.depth === 1 ? 1 : 5);
    }
  }
}

function isSubclause(block: TextBlock | undefined): boolean {
  return block?.kind === 'clause' && block.depth === 1;
}
