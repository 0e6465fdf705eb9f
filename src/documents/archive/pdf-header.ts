import { fstatSync, readSync } from 'node:fs';

const PDF_HEAD = Buffer.from('%PDF-');
const PDF_END = '%%EOF';
/** The end must be in the last 1,024 bytes (ISO 32000-1, Annex H). Twice as many, because some programs append to it. */
const END_BYTES = 2_048;

/** Returns true if an open file starts like a PDF. @throws the system's error if the file can't be read. */
export function isPdf(file: number): boolean {
  const head = Buffer.alloc(PDF_HEAD.length);
  readSync(file, head, 0, head.length, 0);
  return head.equals(PDF_HEAD);
}

/** Returns true if the end of an open PDF is missing. Without it, the file was cut off. @throws the system's error if the file can't be read */
export function isCutOff(file: number): boolean {
  const { size } = fstatSync(file);
  const end = Buffer.alloc(Math.min(size, END_BYTES));
  readSync(file, end, 0, end.length, size - end.length);
  return !end.includes(PDF_END);
}
