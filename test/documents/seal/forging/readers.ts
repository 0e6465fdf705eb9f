import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Tool } from '../../../support/tools.ts';

const run = promisify(execFile);

export type Reader = 'poppler' | 'mupdf' | 'ghostscript' | 'qpdf' | 'pdf.js';

/** PDF readers and the programs that each needs. */
export const READERS: readonly [Reader, readonly Tool[]][] = [
  ['poppler', ['pdftotext']],
  ['mupdf', ['mutool']],
  ['ghostscript', ['gs']],
  ['qpdf', ['qpdf']],
  ['pdf.js', []],
];

/** Returns the text that a reader shows on the page; empty if it shows none. */
export async function shows(reader: Reader, pdf: Buffer, folder: string): Promise<string> {
  const [input, output] = [join(folder, 'shown.pdf'), join(folder, 'shown.txt')];
  await writeFile(input, pdf);
  await rm(output, { force: true });
  // Programs report an error for damage that they repair; only the shown text counts.
  await SHOW[reader](input, output).catch(() => undefined);
  return readFile(output, 'latin1').catch(() => '');
}

const SHOW: Record<Reader, (input: string, output: string) => Promise<unknown>> = {
  poppler: (input, output) => run('pdftotext', [input, output]),
  mupdf: (input, output) => run('mutool', ['draw', '-q', '-F', 'txt', '-o', output, input]),
  ghostscript: (input, output) =>
    run('gs', [
      '-q',
      '-dBATCH',
      '-dNOPAUSE',
      '-dSAFER',
      '-sDEVICE=txtwrite',
      `-sOutputFile=${output}`,
      input,
    ]),
  qpdf: (input, output) =>
    run('qpdf', ['--qdf', '--object-streams=disable', '--coalesce-contents', input, output]),
  'pdf.js': async (input, output) => {
    const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs');
    const task = getDocument({ data: new Uint8Array(await readFile(input)), verbosity: 0 });
    try {
      const page = await (await task.promise).getPage(1);
      const { items } = await page.getTextContent();
      await writeFile(output, items.map((item) => ('str' in item ? item.str : '')).join(' '));
    } finally {
      await task.destroy();
    }
  },
};
