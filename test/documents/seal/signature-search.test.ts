import { expect, it } from 'vitest';
import { BYTE_RANGE, SignatureSearch } from '../../../src/documents/seal/signature-search.ts';

const FILE = Buffer.from(`%PDF-1.7\nsome text ${BYTE_RANGE} [0 1 2 3]\nmore text`);

function hasSignature(chunks: readonly Uint8Array[]): boolean {
  const search = new SignatureSearch();
  for (const chunk of chunks) search.add(chunk);
  return search.found;
}

it('finds the word wherever the file is cut in two', () => {
  for (let at = 0; at <= FILE.length; at++)
    expect(hasSignature([FILE.subarray(0, at), FILE.subarray(at)]), `cut at ${at}`).toBe(true);
});

it('finds the word in chunks of any size', () => {
  for (let size = 1; size <= FILE.length; size++) {
    const count = Math.ceil(FILE.length / size);
    const chunks = Array.from({ length: count }, (_, n) => FILE.subarray(n * size, (n + 1) * size));
    expect(hasSignature(chunks), `chunks of ${size}`).toBe(true);
  }
});

it('finds nothing in a file without the word, or with parts of it only', () => {
  expect(hasSignature([Buffer.from('%PDF-1.7\n/Byte'), Buffer.from(' Range\n/ByteRang')])).toBe(false);
  expect(hasSignature([])).toBe(false);
});
