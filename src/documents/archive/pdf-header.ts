import { readSync } from 'node:fs';

const PDF_HEAD = Buffer.from('%PDF-');

/** Returns true if the bytes start like a PDF. */
export function hasPdfHeader(bytes: Buffer): boolean {
  return PDF_HEAD.equals(bytes.subarray(0, PDF_HEAD.length));
}

/** Returns true if an open file starts like a PDF. @throws the system's error if the file can't be read. */
export function isPdf(file: number): boolean {
  const head = Buffer.alloc(PDF_HEAD.length);
  return hasPdfHeader(head.subarray(0, readSync(file, head, 0, head.length, 0)));
}
