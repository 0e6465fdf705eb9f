import { inflateSync } from 'node:zlib';
import type { PdfBytes } from './pdf-bytes.ts';
import { countOf, nameOf, PdfDict, type PdfStream, type PdfValue, UnreadablePdfError } from './pdf-values.ts';

/** The maximum size of an unpacked stream, in bytes. */
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
const UNKNOWN = 'A stream uses an unsupported filter.';

/**
 * Unpacks a stream's data. `resolve` resolves references, which a cross-reference stream must not have.
 * @throws UnreadablePdfError.
 */
export function unpack(
  bytes: PdfBytes,
  { dict, start }: PdfStream,
  resolve: (value: PdfValue) => PdfValue = (value) => value,
): Buffer {
  const length = countOf(resolve(dict.get('Length')));
  if (length === undefined || length > MAX_UNPACKED_BYTES || start + length > bytes.size)
    throw new UnreadablePdfError('A stream has an invalid length.');
  const filters = [resolve(dict.get('Filter'))].flat().filter((one) => one !== null);
  const packed = bytes.read(start, length);
  bytes.work(length);
  if (filters.length === 0) return packed;
  if (filters.length > 1 || nameOf(filters[0] ?? null) !== 'FlateDecode')
    throw new UnreadablePdfError(UNKNOWN);
  const [parameters] = [resolve(dict.get('DecodeParms'))].flat();
  const plain = inflated(packed);
  bytes.work(plain.length);
  return withoutPredictor(plain, parameters instanceof PdfDict ? parameters : new PdfDict());
}

function inflated(packed: Buffer): Buffer {
  try {
    return inflateSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch {
    throw new UnreadablePdfError("A stream can't be decompressed, or is too large when decompressed.");
  }
}

/** Reverses the PNG predictors (ISO 32000-1, 7.4.4.4) that cross-reference streams use. */
function withoutPredictor(bytes: Buffer, parameters: PdfDict): Buffer {
  const of = (name: string, usual: number) => countOf(parameters.get(name)) ?? usual;
  if (of('Predictor', 1) === 1) return bytes;
  const columns = of('Columns', 1);
  const isBytewise = of('Colors', 1) === 1 && of('BitsPerComponent', 8) === 8;
  if (of('Predictor', 1) < 10 || !isBytewise || columns < 1 || columns > 65_536)
    throw new UnreadablePdfError(UNKNOWN);
  const rows = Math.floor(bytes.length / (columns + 1));
  const plain = Buffer.alloc(rows * columns);
  for (let row = 0; row < rows; row++) undoRow(row, { bytes, columns, plain });
  return plain;
}

/** Reverses the predictor of one row in place, without a buffer per row, because a malicious file can have millions of one-byte rows. */
function undoRow(
  row: number,
  { bytes, columns, plain }: { bytes: Buffer; columns: number; plain: Buffer },
): void {
  const from = row * (columns + 1);
  const kind = bytes[from] ?? 0;
  const start = row * columns;
  for (let column = 0; column < columns; column++) {
    const at = start + column;
    const left = column === 0 ? 0 : (plain[at - 1] ?? 0);
    const up = row === 0 ? 0 : (plain[at - columns] ?? 0);
    const corner = column === 0 || row === 0 ? 0 : (plain[at - columns - 1] ?? 0);
    plain[at] = (bytes[from + 1 + column] ?? 0) + predicted(kind, left, up, corner);
  }
}

function predicted(kind: number, left: number, up: number, corner: number): number {
  if (kind === 0) return 0;
  if (kind === 1) return left;
  if (kind === 2) return up;
  if (kind === 3) return (left + up) >> 1;
  if (kind !== 4) throw new UnreadablePdfError(UNKNOWN);
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
