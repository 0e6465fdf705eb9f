import { createHash } from 'node:crypto';
import {
  PDF,
  type PDFPage,
  PdfArray,
  PdfDict,
  PdfName,
  PdfNumber,
  type PdfRef,
  PdfStream,
  PdfString,
} from '@libpdf/core';
import { createUsedFonts } from './fonts.ts';
import { createSheet, type Sheet } from './sheet.ts';
import { inherited, type PageView, viewOf } from './view.ts';

/** The size of A4 in points. */
const A4 = { width: 595.28, height: 841.89 } as const;

/** The document properties of the file. */
export interface PdfInfo {
  title: string;
  subject: string;
  keywords: string[];
  /** The creation and modification time, ISO 8601. */
  at: string;
}

export type Pdf = ReturnType<typeof pdfOver>;

/** Creates an empty document. */
export function createPdf(): Pdf {
  return pdfOver(PDF.create());
}

/** Opens an existing PDF to draw on it. Rejects if the bytes aren't a PDF. */
export async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  return pdfOver(await PDF.load(bytes));
}

/** Draws on a PDF. The same drawing always gives the same bytes. */
function pdfOver(pdf: PDF) {
  const fonts = createUsedFonts();
  const pages = pdf.getPages();
  const sheetFor = (page: PDFPage) => createSheet(viewOf(pdf, page), fonts);
  const sheets = pages.map(sheetFor);
  return {
    /** One sheet per page, in order. Drawing adds to the page's existing content. */
    sheets,
    /** Appends an empty A4 page. */
    addSheet(): Sheet {
      const page = pdf.addPage(A4);
      const sheet = sheetFor(page);
      pages.push(page);
      sheets.push(sheet);
      return sheet;
    },
    async save(info: PdfInfo): Promise<Uint8Array> {
      const resources = pdf.register(PdfDict.of({ Font: fonts.embed(pdf) }));
      const digest = createHash('sha256').update(JSON.stringify(info));
      for (const [index, page] of pages.entries()) {
        const sheet = sheets[index];
        const content = sheet?.content() ?? '';
        digest.update(content);
        if (content !== '' && sheet) show(pdf, page, { content, view: sheet.view, resources });
      }
      describe(pdf, info);
      const id = PdfString.fromBytes(digest.digest().subarray(0, 16));
      pdf.context.info.trailer.set('ID', new PdfArray([id, id]));
      return pdf.save({ compressionThreshold: 64 });
    },
  };
}

/** Adds the drawing to the page as a separate form, so that its fonts can't clash with the page's. */
function show(
  pdf: PDF,
  page: PDFPage,
  { content, view, resources }: { content: string; view: PageView; resources: PdfRef },
): void {
  const form = pdf.register(
    PdfStream.fromDict(
      {
        Type: PdfName.of('XObject'),
        Subtype: PdfName.of('Form'),
        BBox: numbers([0, 0, view.width, view.height]),
        Matrix: numbers(view.matrix),
        Resources: resources,
      },
      Buffer.from(content, 'latin1'),
    ),
  );
  const pageResources = ownResources(pdf, page);
  const forms = pageResources.getDict('XObject', (ref) => pdf.context.resolve(ref)) ?? new PdfDict();
  let number = 1;
  while (forms.has(`Esign${number}`)) number++;
  forms.set(`Esign${number}`, form);
  pageResources.set('XObject', forms);

  const stream = (text: string): PdfRef => pdf.register(PdfStream.fromDict({}, Buffer.from(text, 'latin1')));
  const before = page.dict.get('Contents', (ref) => pdf.context.resolve(ref));
  const existing = before instanceof PdfArray ? [...before] : [page.dict.get('Contents')];
  const kept = existing.filter((entry) => entry !== undefined);
  const own = stream(`q /Esign${number} Do Q`);
  // The page's own content may leave the graphics state modified.
  page.dict.set(
    'Contents',
    new PdfArray(kept.length === 0 ? [own] : [stream('q'), ...kept, stream('Q'), own]),
  );
}

/** Returns the page's resources, after copying inherited ones to the page. The library itself would use an empty dictionary. */
function ownResources(pdf: PDF, page: PDFPage): PdfDict {
  const above = inherited(pdf, page, 'Resources');
  if (!page.dict.has('Resources') && above instanceof PdfDict) page.dict.set('Resources', above.clone());
  return page.getResources();
}

function numbers(values: readonly number[]): PdfArray {
  return new PdfArray(values.map((value) => PdfNumber.of(value)));
}

function describe(pdf: PDF, { title, subject, keywords, at }: PdfInfo): void {
  const date = new Date(at);
  pdf.setMetadata({
    title,
    subject,
    keywords,
    author: 'esign sandbox',
    creator: 'esign sandbox',
    producer: 'esign sandbox',
    creationDate: date,
    modificationDate: date,
    language: 'en',
  });
}
