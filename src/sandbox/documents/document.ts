import type { FieldRecord, TemplateRecord } from '../model.ts';
import { drawRegion } from './drawing/blocks.ts';
import { drawEmptyField, drawFieldPlace } from './drawing/empty-fields.ts';
import { COLORS, drawFitted, drawLine, STYLES } from './drawing/pen.ts';
import { drawStandInMark } from './drawing/stand-in-mark.ts';
import { createPdf, openPdf, type PdfInfo } from './pdf/pdf.ts';
import type { Sheet } from './pdf/sheet.ts';
import { BUILT_IN } from './templates/all.ts';
import { PAGE, type Region } from './templates/design.ts';
import { createTypesetter, type Typesetter } from './text/typesetter.ts';
import { plain, quoted } from './text/untrusted.ts';

/**
 * Draws document.pdf: the template's pages with empty fields. For a template that isn't built in, the pages show only its name and fields.
 */
export async function drawDocument(template: TemplateRecord): Promise<Uint8Array> {
  const type = createTypesetter();
  const pdf = createPdf();
  const known = template.standIn ? undefined : BUILT_IN.find(({ record }) => record.id === template.id);
  const count = Math.max(1, template.pageCount);
  for (let page = 1; page <= count; page++) {
    const sheet = pdf.addSheet();
    for (const region of known?.pages[page - 1] ?? []) drawRegion(sheet, type, region);
    if (!known && page === 1) drawRegion(sheet, type, nameOnly(template));
    for (const field of fieldsOn(template, page)) drawEmptyField(sheet, type, field);
    if (template.standIn) drawStandInMark(sheet, type);
    drawFooter(sheet, type, template.name, `Page ${page} of ${count}`);
  }
  return pdf.save(infoOf(template));
}

/** Draws document.pdf for an uploaded template: its own pages, with outlines of the fields on them. */
export async function drawOver(template: TemplateRecord, upload: Uint8Array): Promise<Uint8Array> {
  const pdf = await openPdf(upload);
  for (const field of template.fields) {
    const sheet = pdf.sheets[field.page - 1];
    if (sheet) drawFieldPlace(sheet, field);
  }
  return pdf.save(infoOf(template));
}

function infoOf({ id, name, description, createdAt }: TemplateRecord): PdfInfo {
  return { title: plain(name), subject: plain(description), keywords: [id], at: createdAt };
}

function fieldsOn(template: TemplateRecord, page: number): FieldRecord[] {
  return template.fields.filter((field) => field.page === page);
}

function nameOnly(template: TemplateRecord): Region {
  const name = quoted(template.name);
  return {
    top: PAGE.top,
    bottom: PAGE.bottom,
    blocks: [{ kind: 'title', text: name, subtitle: quoted(template.description) }],
  };
}

function drawFooter(sheet: Sheet, type: Typesetter, name: string, page: string): void {
  sheet.line([PAGE.left, 790], [PAGE.right, 790], { color: COLORS.hairline, width: 0.5 });
  drawFitted(sheet, type, quoted(name), STYLES.footer, { x: PAGE.left, y: 801, width: 340 });
  drawLine(sheet, type, page, STYLES.footer, { x: PAGE.right, y: 801, align: 'right' });
}
