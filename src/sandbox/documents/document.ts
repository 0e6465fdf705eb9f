import type { FieldRecord, TemplateRecord } from '../model.ts';
import { Pdf } from './pdf.ts';
import { type Box, baseline, COLORS, type Column, MARGIN, type Sheet, STYLES, TEXT_WIDTH } from './sheet.ts';
import { BUILT_IN, type Region, type TextBlock } from './templates/built-in-templates.ts';
import { onOneLine } from './untrusted-text.ts';

/**
 * Draws document.pdf: the template's pages with empty fields. For a template that isn't built in, the pages show only its name and fields.
 */
export async function drawDocument(template: TemplateRecord): Promise<Uint8Array> {
  const pdf = new Pdf();
  const [name, description] = [onOneLine(template.name), onOneLine(template.description)];
  const known = template.standIn ? undefined : BUILT_IN.find(({ record }) => record.id === template.id);
  const count = Math.max(1, template.pageCount);
  for (let page = 1; page <= count; page++) {
    const sheet = pdf.addSheet();
    for (const region of known?.pages[page - 1] ?? []) drawRegion(sheet, region);
    if (!known && page === 1) sheet.title(name, description, { x: MARGIN, top: 62, width: TEXT_WIDTH });
    for (const field of template.fields) if (field.page === page) drawEmptyField(sheet, field);
    if (template.standIn) drawStandInMark(sheet);
    sheet.footer(`${name} · Page ${page} of ${count}`);
  }
  return pdf.save({ title: name, subject: description, keywords: [template.id], at: template.createdAt });
}

/** Marks a page that replaces one from another account, so that it can't be mistaken for the page that signers will see. */
function drawStandInMark(sheet: Sheet): void {
  sheet.line('STAND-IN', { ...STYLES.title, color: COLORS.warning }, { x: MARGIN, y: 168 });
  const note = 'The fields come from your template. Signers will see the pages of the real document.';
  sheet.line(note, STYLES.small, { x: MARGIN, y: 182 });
}

/** Draws an empty field: its box, and its label above it or, for a checkbox, next to it. */
function drawEmptyField(sheet: Sheet, field: FieldRecord): void {
  const { x, y, width, height } = field;
  const label = onOneLine(field.label);
  if (field.type === 'CHECKBOX') {
    sheet.box(field, { stroke: COLORS.grey });
    sheet.line(label, STYLES.body, { x: x + width + 8, y: y + height / 2 + 3.3 });
    return;
  }
  const line: Box = { x, y: y + height, width, height: 0.6 };
  sheet.box(field, { fill: COLORS.tint });
  sheet.box(line, { fill: COLORS.grey });
  const text = `${label}${field.required ? '' : ' (optional)'}`;
  sheet.fittedLine(text, STYLES.footer, { x, y: y - 4, width: Math.max(width, 70) });
}

/** The indent of a clause's text from its number, in points. */
const INDENT = 28;

/** Draws a region's blocks. Throws if they don't fit, because there are fields below the region. */
function drawRegion(sheet: Sheet, region: Region): void {
  const column = { x: region.x ?? MARGIN, width: region.width ?? TEXT_WIDTH };
  const end = region.blocks.reduce((top, block) => drawBlock(sheet, block, { ...column, top }), region.top);
  if (end > region.bottom)
    throw new Error(`The text exceeds its region by ${(end - region.bottom).toFixed(1)} points.`);
}

/** Draws a block. Returns the top of the next one. */
function drawBlock(sheet: Sheet, block: TextBlock, column: Column): number {
  const { x, top, width } = column;
  switch (block.kind) {
    case 'title':
      return sheet.title(block.text, block.subtitle, column);
    case 'heading':
      return sheet.paragraph(block.text, STYLES.heading, { ...column, top: top + 10 }) + 4;
    case 'paragraph':
      return sheet.paragraph(block.text, STYLES.body, column) + 6;
    case 'note':
      return sheet.paragraph(block.text, STYLES.small, column) + 6;
    case 'clause': {
      const indent = INDENT * (1 + (block.depth ?? 0));
      sheet.line(block.number, STYLES.body, { x: x + indent - INDENT, y: baseline(top, STYLES.body) });
      return sheet.paragraph(block.text, STYLES.body, { x: x + indent, top, width: width - indent }) + 5;
    }
  }
}
