import { PDF } from '@libpdf/core';

/** Two pages, the second in landscape, like a word processor's output. */
export async function plainPdf(): Promise<Uint8Array> {
  const pdf = PDF.create();
  pdf.addPage({ width: 595, height: 842 }).drawText('Contract of sale', { x: 64, y: 760, size: 18 });
  pdf.addPage({ width: 842, height: 595 }).drawText('Second page', { x: 64, y: 500, size: 18 });
  return pdf.save();
}

export async function protectedPdf(): Promise<Uint8Array> {
  const pdf = await PDF.load(await plainPdf());
  pdf.setProtection({ userPassword: '', ownerPassword: 'secret' });
  return pdf.save();
}

/** A page that is cropped and rotated by `degrees`, and inherits its fonts, box, and rotation. */
export function turnedPdf(degrees: number): Uint8Array {
  const stream = 'BT /F1 18 Tf 100 700 Td (Inherited) Tj ET';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 612 792] /Rotate ${degrees} /Resources << /Font << /F1 5 0 R >> >> >>`,
    '<< /Type /Page /Parent 2 0 R /CropBox [50 40 562 752] /Contents 4 0 R >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  return written(objects);
}

/** An extra page and an extra bracket: the PDF library reads it forever. */
export function endlessPdf(): Uint8Array {
  return written([
    '<< /Type /Catalog /Pages 2 0 R /Lang ) >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>',
  ]);
}

function written(objects: readonly string[]): Uint8Array {
  let text = '%PDF-1.4\n';
  const entries = objects.map((object, index) => {
    const at = `${String(text.length).padStart(10, '0')} 00000 n \n`;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${entries.join('')}`;
  const end = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + end, 'latin1');
}
