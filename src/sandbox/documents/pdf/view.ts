import { type PDF, type PDFPage, PdfArray, PdfDict, PdfNumber, type PdfObject } from '@libpdf/core';

/** A page as a viewer shows it, cropped and rotated. */
export interface PageView {
  /** The width in points. */
  width: number;
  height: number;
  /** The matrix from the view's coordinates, with the origin at the bottom left, to those of the page. */
  matrix: readonly [number, number, number, number, number, number];
}

/** US Letter, which viewers use for a page without any box. */
const NO_BOX = [0, 0, 612, 792] as const;
/** The maximum depth of a page tree. A deeper one is treated as a loop. */
const MAX_TREE_DEPTH = 64;

/** Returns how a page of a PDF is shown, including inherited attributes (ISO 32000-1, 7.7.3.4). */
export function viewOf(pdf: PDF, page: PDFPage): PageView {
  const media = box(pdf, page, 'MediaBox') ?? NO_BOX;
  const crop = box(pdf, page, 'CropBox') ?? media;
  const left = Math.max(media[0], crop[0]);
  const bottom = Math.max(media[1], crop[1]);
  const right = Math.min(media[2], crop[2]);
  const top = Math.min(media[3], crop[3]);
  const shown = right > left && top > bottom ? ([left, bottom, right, top] as const) : media;
  return turned(shown, rotation(pdf, page), unit(pdf, page));
}

/** Returns an entry of a page, or of its nearest ancestor that has one. */
export function inherited(pdf: PDF, page: PDFPage, name: string): PdfObject | undefined {
  const resolve = (ref: Parameters<typeof pdf.context.resolve>[0]) => pdf.context.resolve(ref);
  let node: PdfObject | undefined = page.dict;
  for (let depth = 0; node instanceof PdfDict && depth < MAX_TREE_DEPTH; depth++) {
    const value: PdfObject | undefined = node.get(name, resolve);
    if (value !== undefined) return value;
    node = node.get('Parent', resolve);
  }
  return undefined;
}

type Corners = readonly [number, number, number, number];

function box(pdf: PDF, page: PDFPage, name: string): Corners | undefined {
  const value = inherited(pdf, page, name);
  if (!(value instanceof PdfArray)) return undefined;
  const resolve = (ref: Parameters<typeof pdf.context.resolve>[0]) => pdf.context.resolve(ref);
  const [x1, y1, x2, y2] = [0, 1, 2, 3].map((index) => numberIn(value.at(index, resolve)));
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) return undefined;
  if (x1 === x2 || y1 === y2) return undefined;
  return [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
}

function rotation(pdf: PDF, page: PDFPage): number {
  const degrees = numberIn(inherited(pdf, page, 'Rotate')) ?? 0;
  return degrees % 90 === 0 ? ((degrees % 360) + 360) % 360 : 0;
}

function unit(pdf: PDF, page: PDFPage): number {
  const value = numberIn(inherited(pdf, page, 'UserUnit')) ?? 1;
  return value > 0 ? value : 1;
}

function numberIn(value: PdfObject | undefined): number | undefined {
  return value instanceof PdfNumber && Number.isFinite(value.value) ? value.value : undefined;
}

/** Returns the view of a rotated page. A viewer rotates clockwise, and scales a unit of the page to `unit` points. */
function turned([left, bottom, right, top]: Corners, degrees: number, unit: number): PageView {
  const [across, up] = [(right - left) * unit, (top - bottom) * unit];
  const one = 1 / unit;
  switch (degrees) {
    case 90:
      return { width: up, height: across, matrix: [0, one, -one, 0, right, bottom] };
    case 180:
      return { width: across, height: up, matrix: [-one, 0, 0, -one, right, top] };
    case 270:
      return { width: up, height: across, matrix: [0, -one, one, 0, left, top] };
    default:
      return { width: across, height: up, matrix: [one, 0, 0, one, left, bottom] };
  }
}
