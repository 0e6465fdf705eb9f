import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PDF, PdfArray, PdfRef, PdfStream } from '@libpdf/core';
import { needs } from '../support/tools.ts';

const ROOT = join(import.meta.dirname, '../..');

/** For tests that read documents back with poppler. */
export const needsReader = needs('pdftotext', 'pdfinfo', 'pdftoppm');

/** Fills dist/fonts as a build does, unless it is filled. */
export function prepareFonts(): void {
  if (existsSync(join(ROOT, 'dist/fonts/licenses'))) return;
  execFileSync(process.execPath, [join(ROOT, 'scripts/fonts.mjs')]);
}

/** The text that a reader finds, page by page, without bidi marks. Options as for pdftotext. */
export function pagesOf(pdf: Uint8Array, ...options: string[]): string[] {
  return withoutMarks(withFile(pdf, (path) => run('pdftotext', [...options, path, '-'])))
    .split('\f')
    .slice(0, -1);
}

export function textOf(pdf: Uint8Array): string {
  return pagesOf(pdf, '-layout').join('\n');
}

interface Word {
  page: number;
  left: number;
  right: number;
  /** Midway between the top and the bottom of its line. */
  middle: number;
  text: string;
}

const words = new WeakMap<Uint8Array, Word[]>();

/** The words that overlap a rectangle of one page, in points from the top left. */
export function textIn(
  pdf: Uint8Array,
  { page, x, y, width, height }: { page: number; x: number; y: number; width: number; height: number },
): string {
  return wordsOf(pdf)
    .filter((word) => word.page === page && word.middle > y && word.middle < y + height)
    .filter((word) => word.right > x + 0.5 && word.left < x + width - 0.5)
    .map(({ text }) => text)
    .join(' ');
}

function wordsOf(pdf: Uint8Array): Word[] {
  const known = words.get(pdf);
  if (known) return known;
  const found = pagesIn(withFile(pdf, (path) => run('pdftotext', ['-bbox', path, '-']))).flatMap(
    (page, index) =>
      [...page.matchAll(/<word xMin="(.+?)" yMin="(.+?)" xMax="(.+?)" yMax="(.+?)">(.*?)<\/word>/gsu)].map(
        ([, left, top, right, bottom, text = '']): Word => ({
          page: index + 1,
          left: Number(left),
          right: Number(right),
          middle: (Number(top) + Number(bottom)) / 2,
          text: withoutMarks(text).replace(/&(amp|lt|gt|quot);/g, (_, name: string) => ENTITIES[name] ?? ''),
        }),
      ),
  );
  words.set(pdf, found);
  return found;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function pagesIn(html: string): string[] {
  return html.split('<page ').slice(1);
}

function withoutMarks(text: string): string {
  return text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '');
}

/** The points drawn on a page in the color of the pen, in points from the top left. */
export async function strokesIn(bytes: Uint8Array, page: number): Promise<{ x: number; y: number }[]> {
  const pdf = await PDF.load(bytes);
  const sheet = pdf.getPage(page - 1);
  if (!sheet) throw new Error(`no page ${page}`);
  const contents = sheet.dict.get('Contents', (ref) => pdf.context.resolve(ref));
  const parts = contents instanceof PdfArray ? [...contents] : [];
  return parts
    .map((part) => (part instanceof PdfRef ? pdf.context.resolve(part) : part))
    .map((part) => (part instanceof PdfStream ? Buffer.from(part.getDecodedData()).toString('latin1') : ''))
    .filter((part) => part.includes('0.08 0.17 0.45 RG'))
    .flatMap((part) => [...part.matchAll(/^([-\d. ]+) [mlc]$/gm)])
    .flatMap(([, numbers = '']) => [...numbers.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)])
    .map(([, x, y]) => ({ x: Number(x), y: sheet.height - Number(y) }));
}

/** The fields of pdfinfo; throws if it finds the file damaged. */
export function infoOf(pdf: Uint8Array): Map<string, string> {
  const lines = withFile(pdf, (path) => run('pdfinfo', [path])).split('\n');
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
}

function run(program: string, parameters: string[], encoding: 'utf8' | 'latin1' = 'utf8'): string {
  const { status, stdout, stderr } = spawnSync(program, parameters, { encoding, maxBuffer: 1e8 });
  if (status !== 0 || stderr !== '') throw new Error(`${program}: ${stderr}`);
  return stdout;
}

function withFile<T>(data: Uint8Array, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'esign-documents-'));
  try {
    const path = join(folder, 'pdf.pdf');
    writeFileSync(path, data);
    return use(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
