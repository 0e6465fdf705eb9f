import type { Tampering } from '../model.ts';
import { makeSealKey, sealPdf } from './seal.ts';

/** docs/sandbox.md lists how each one is detected. */
const WAYS: Readonly<Record<Tampering, (pdf: Buffer) => Buffer | Promise<Buffer>>> = {
  changedText: (pdf) => flipBit(pdf, pdf.indexOf('/Producer') + '/Producer ('.length),
  appendedBytes: (pdf) => Buffer.concat([pdf, Buffer.from('\n% Rent: 1\n')]),
  otherSeal: async (pdf) => Buffer.from(await sealPdf(withoutSeal(pdf), await makeSealKey(), AT)),
  strippedSeal: (pdf) => withoutSeal(pdf),
};

/** The time of the other seal. Any time works. */
const AT = '2026-01-01T00:00:00.000Z';

/** Returns the document after tampering. A document without a seal is returned unchanged. */
export async function tamperWith(pdf: Uint8Array, how: Tampering): Promise<Uint8Array> {
  const bytes = Buffer.from(pdf);
  return bytes.includes('/ByteRange') ? WAYS[how](bytes) : pdf;
}

/** Returns the document before sealing. A seal is an incremental update, so the original ends where the first revision ends. */
function withoutSeal(pdf: Buffer): Buffer {
  const end = pdf.indexOf('%%EOF');
  return pdf.subarray(0, pdf.indexOf('\n', end) + 1);
}

/** Returns the file with one bit of one byte flipped. */
function flipBit(pdf: Buffer, at: number): Buffer {
  const copy = Buffer.from(pdf);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
