import { hash } from 'node:crypto';
import { PDF, PdfArray, PdfString } from '@libpdf/core';
import { Fonts } from './fonts.ts';
import { Sheet } from './sheet.ts';

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
export class Pdf {
  /** One sheet per page, in order. Drawing adds to the page's existing content. */
  readonly sheets: Sheet[];
  readonly #pdf: PDF;
  readonly #fonts: Fonts;

  constructor(pdf = PDF.create()) {
    this.#pdf = pdf;
    this.#fonts = new Fonts(pdf);
    this.sheets = pdf.getPages().map((page) => new Sheet(page, this.#fonts));
  }

  /** Opens a PDF of the sandbox to draw on it. Rejects if the bytes aren't a PDF. */
  static async open(bytes: Uint8Array): Promise<Pdf> {
    return new Pdf(await PDF.load(bytes));
  }

  /** Appends an empty A4 page. */
  addSheet(): Sheet {
    const sheet = new Sheet(this.#pdf.addPage(A4), this.#fonts);
    this.sheets.push(sheet);
    return sheet;
  }

  async save({ at, ...about }: PdfInfo): Promise<Uint8Array> {
    const date = new Date(at);
    const by = { author: 'esign sandbox', creator: 'esign sandbox', producer: 'esign sandbox' };
    this.#pdf.setMetadata({ ...about, ...by, creationDate: date, modificationDate: date, language: 'en' });
    const digest = hash('sha256', JSON.stringify({ ...about, at })).slice(0, 32);
    const id = PdfString.fromBytes(Buffer.from(digest, 'hex'));
    this.#pdf.context.info.trailer.set('ID', new PdfArray([id, id]));
    return this.#withStableTags(await this.#pdf.save({ subsetFonts: true, compressionThreshold: 64 }));
  }

  /** Replaces the random tags that the library gives to the subsets of fonts, so that the same document has the same bytes. */
  #withStableTags(bytes: Uint8Array): Uint8Array {
    let text = Buffer.from(bytes).toString('latin1');
    for (const [index, { subsetTag }] of this.#fonts.embedded.entries())
      text = text.replaceAll(`/${subsetTag}+`, `/ESIGN${'ABC'.charAt(index)}+`);
    return Buffer.from(text, 'latin1');
  }
}
