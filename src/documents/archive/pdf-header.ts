import { readSync } from 'node:fs';

const PDF_HEAD = Buffer.from('%PDF-');

/** Returns true if an open file starts like a PDF. @throws the system's error if the file can't be read. */
export function isPdf(file: number): boolean {
  const head = Buffer.alloc(PDF_HEAD.length);
  readSync(file, head, 0, head.length, 0);
  return head.equals(PDF_HEAD);
}
