/** The word before the byte range of each signature in a PDF. */
export const BYTE_RANGE = '/ByteRange';

/** Looks for signatures in a file while it is written, so that a file without one need not be read again. */
export class SignatureSearch {
  /** Whether the bytes that were added contain the beginning of a signature. */
  found = false;
  /** The last bytes, because the word may begin in one chunk and end in the next. */
  #end = Buffer.alloc(0);

  add(chunk: Uint8Array): void {
    if (this.found) return;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const seam = Buffer.concat([this.#end, bytes.subarray(0, BYTE_RANGE.length - 1)]);
    this.found = [seam, bytes].some((part) => part.includes(BYTE_RANGE, 0, 'latin1'));
    const last = bytes.subarray(-(BYTE_RANGE.length - 1));
    this.#end = Buffer.concat([this.#end, last]).subarray(-(BYTE_RANGE.length - 1));
  }
}
