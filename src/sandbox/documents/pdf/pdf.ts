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
import { createFonts, type Fonts } from '../text/fonts.ts';
import { createTypesetter, type Typesetter } from '../text/typesetter.ts';
import { createSheet, type Sheet } from './sheet.ts';

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

/** A PDF to draw on. The same drawing always gives the same bytes. */
export interface Pdf {
  type: Typesetter;
  /** One sheet per page, in order. Drawing adds to the page's existing content. */
  sheets: Sheet[];
  /** Appends an empty A4 page. */
  addSheet(): Sheet;
  save(info: PdfInfo): Promise<Uint8Array>;
}

/** Creates an empty document. */
export function createPdf(): Pdf {
  return pdfOver(PDF.create());
}

/** Opens a PDF of the sandbox to draw on it. Rejects if the bytes aren't a PDF. */
export async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  return pdfOver(await PDF.load(bytes));
}

function pdfOver(pdf: PDF): Pdf {
  const fonts = createFonts(pdf);
  const pages = pdf.getPages();
  const sheets = pages.map(({ width, height }) => createSheet({ width, height }));
  return {
    type: createTypesetter(fonts),
    sheets,
    addSheet(): Sheet {
      const sheet = createSheet(A4);
      pages.push(pdf.addPage(A4));
      sheets.push(sheet);
      return sheet;
    },
    async save(info: PdfInfo): Promise<Uint8Array> {
      const faces = new PdfDict(fonts.faces().map(({ resource, font }) => [resource, font.ref]));
      const resources = pdf.register(PdfDict.of({ Font: faces }));
      const digest = createHash('sha256').update(JSON.stringify(info));
      for (const [index, page] of pages.entries()) {
        const sheet = sheets[index];
        const content = sheet?.content() ?? '';
        digest.update(content);
        if (sheet && content !== '') show(pdf, page, { content, size: sheet.size, resources });
      }
      describe(pdf, info);
      const id = PdfString.fromBytes(digest.digest().subarray(0, 16));
      pdf.context.info.trailer.set('ID', new PdfArray([id, id]));
      return withStableTags(await pdf.save({ subsetFonts: true, compressionThreshold: 64 }), fonts);
    },
  };
}

/** Adds the drawing to the page as a separate form, so that its fonts can't clash with those of an earlier drawing. */
function show(
  pdf: PDF,
  page: PDFPage,
  { content, size, resources }: { content: string; size: Sheet['size']; resources: PdfRef },
): void {
  const box = [0, 0, size.width, size.height].map((value) => PdfNumber.of(value));
  const facts = { Type: PdfName.of('XObject'), Subtype: PdfName.of('Form'), BBox: new PdfArray(box) };
  const form = pdf.register(
    PdfStream.fromDict({ ...facts, Resources: resources }, Buffer.from(content, 'latin1')),
  );
  const pageResources = page.getResources();
  const forms = pageResources.getDict('XObject', (ref) => pdf.context.resolve(ref)) ?? new PdfDict();
  const name = `Esign${[...forms.keys()].length + 1}`;
  forms.set(name, form);
  pageResources.set('XObject', forms);
  const own = pdf.register(PdfStream.fromDict({}, Buffer.from(`q /${name} Do Q`, 'latin1')));
  const before = page.dict.get('Contents', (ref) => pdf.context.resolve(ref));
  const existing = before instanceof PdfArray ? [...before] : [page.dict.get('Contents')];
  page.dict.set('Contents', new PdfArray([...existing.filter((entry) => entry !== undefined), own]));
}

/** Replaces the random tags that the library gives to the subsets of fonts, so that the same document has the same bytes. */
function withStableTags(bytes: Uint8Array, fonts: Fonts): Uint8Array {
  let text = Buffer.from(bytes).toString('latin1');
  for (const [index, { font }] of fonts.faces().entries())
    text = text.replaceAll(`/${font.subsetTag}+`, `/${TAGS[index] ?? ''}+`);
  return Buffer.from(text, 'latin1');
}

const TAGS = ['ESIGNA', 'ESIGNB', 'ESIGNC'];

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
