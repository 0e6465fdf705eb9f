import { builtInKind, kindOfFormat, type NumberKind } from './number-formats.ts';
import type { Package } from './package.ts';
import { parseXml } from './xml.ts';

/**
 * Returns the shared strings of a workbook. The runs of rich text are joined, and phonetic readings of East Asian text are left
 * out.
 */
export async function readStrings(file: Package, path: string | undefined): Promise<string[]> {
  const strings: string[] = [];
  if (path === undefined) return strings;
  const item = new StringItem();
  await parseXml(file.part(path), {
    open: (tag) => item.open(tag),
    text: (text) => item.add(text),
    close: (tag) => {
      item.close(tag);
      if (tag === 'si') strings.push(item.take());
    },
  });
  return strings;
}

/** Collects the text of a string item, which is either shared or inline in a cell. */
export class StringItem {
  #text = '';
  #isText = false;
  #isPhonetic = false;

  open(tag: string): void {
    if (tag === 'rPh') this.#isPhonetic = true;
    if (tag === 't') this.#isText = true;
  }

  add(text: string): void {
    if (this.#isText && !this.#isPhonetic) this.#text += text;
  }

  close(tag: string): void {
    if (tag === 'rPh') this.#isPhonetic = false;
    if (tag === 't') this.#isText = false;
  }

  take(): string {
    const text = unescaped(this.#text);
    this.#text = '';
    return text;
  }
}

/** Replaces `_x000D_` and similar escapes, which stand for characters that XML can't contain. Line breaks become uniform. */
export function unescaped(text: string): string {
  return text
    .replaceAll(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\r\n?/g, '\n');
}

/** Returns the number format of each cell style. */
export async function readStyles(file: Package, path: string | undefined): Promise<NumberKind[]> {
  const styles: NumberKind[] = [];
  if (path === undefined) return styles;
  const formats = new Map<number, NumberKind>();
  let isCellStyles = false;
  await parseXml(file.part(path), {
    open: (tag, attribute) => {
      if (tag === 'numFmt')
        formats.set(Number(attribute('numFmtId')), kindOfFormat(attribute('formatCode') ?? ''));
      if (tag === 'cellXfs') isCellStyles = true;
      const id = Number(attribute('numFmtId') ?? 0);
      if (tag === 'xf' && isCellStyles) styles.push(formats.get(id) ?? builtInKind(id));
    },
    close: (tag) => {
      if (tag === 'cellXfs') isCellStyles = false;
    },
  });
  return styles;
}
