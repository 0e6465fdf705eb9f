import { hash } from 'node:crypto';
import { PDF, PdfArray, PdfString } from '@libpdf/core';
import { createFonts, type Fonts } from '../text/fonts.ts';
import { createTypesetter, type Typesetter } from '../text/typesetter.ts';
import { createSheet, type PdfSheet } from './sheet.ts';

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
  sheets: PdfSheet[];
  /** Appends an empty A4 page. */
  addSheet(): PdfSheet;
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
  const sheets = pdf.getPages().map(createSheet);
  return {
    type: createTypesetter(fonts),
    sheets,
    addSheet(): PdfSheet {
      const sheet = createSheet(pdf.addPage(A4));
      sheets.push(sheet);
      return sheet;
    },
    async save(info: PdfInfo): Promise<Uint8Array> {
      describe(pdf, info);
      return withStableTags(await pdf.save({ subsetFonts: true, compressionThreshold: 64 }), fonts);
    },
  };
}

/** Replaces the random tags that the library gives to the subsets of fonts, so that the same document has the same bytes. */
function withStableTags(bytes: Uint8Array, fonts: Fonts): Uint8Array {
  let text = Buffer.from(bytes).toString('latin1');
  for (const [index, { subsetTag }] of fonts.embedded().entries())
    text = text.replaceAll(`/${subsetTag}+`, `/${TAGS[index] ?? ''}+`);
  return Buffer.from(text, 'latin1');
}

const TAGS = ['ESIGNA', 'ESIGNB', 'ESIGNC'];

function describe(pdf: PDF, info: PdfInfo): void {
  const { title, subject, keywords, at } = info;
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
  const id = PdfString.fromBytes(Buffer.from(hash('sha256', JSON.stringify(info)).slice(0, 32), 'hex'));
  pdf.context.info.trailer.set('ID', new PdfArray([id, id]));
}
