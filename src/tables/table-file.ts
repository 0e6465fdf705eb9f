import { UsageError } from '../kernel/errors.ts';
import { encodingNamed, markOf, startsWith } from './encodings.ts';
import type { SheetFile } from './record.ts';
import { otherEncoding, textOf } from './text.ts';

/** A file that the user named. */
export interface FileSource {
  /** As the user named it, for messages. */
  name: string;
  bytes: AsyncIterable<Uint8Array>;
}

/** How to read a file: the values of the flags `--encoding` and `--sheet`. */
export interface ReadOptions {
  encoding?: string | undefined;
  sheet?: string | undefined;
  /** How the file was read before. Used if neither flag is given and the file itself doesn't show it. */
  before?: { encoding: string; sheet?: string | undefined } | undefined;
}

/** An open file: text that is not parsed yet, or a sheet. */
export type TableFile = TextFile | SheetFile;

export interface TextFile {
  kind: 'text';
  encoding: string;
  /** Length of the byte order mark, in bytes. */
  mark: number;
  bytes: AsyncIterable<Uint8Array>;
  text: AsyncIterable<string>;
}

const ZIP = [0x50, 0x4b, 0x03, 0x04];
const OLE = [0xd0, 0xcf, 0x11, 0xe0];
/** The first bytes of files that aren't tables. */
const OTHER_KINDS: readonly (readonly [readonly number[], string])[] = [
  [[0x1f, 0x8b], 'is compressed'],
  [[...Buffer.from('%PDF-')], 'is a PDF'],
  [[...Buffer.from('{\\rtf')], 'is a formatted text document (RTF)'],
  [[...Buffer.from('<html')], 'is a web page'],
  [[...Buffer.from('<!DOCTYPE')], 'is a web page'],
  [[...Buffer.from('<?xml')], 'is XML'],
  [[0x89, 0x50, 0x4e, 0x47], 'is an image'],
  [[0xff, 0xd8, 0xff], 'is an image'],
];
const HINT = 'Save it as .xlsx, or as CSV in UTF-8 ("CSV UTF-8" in a spreadsheet program). Nothing was sent.';
/** Number of bytes needed to recognize the kind of a file and its encoding. */
const HEAD_BYTES = 4_096;

/**
 * Opens a file according to its first bytes: a sheet of an .xlsx file, or text. The encoding of text is that of its byte order
 * mark, or else the one in the options, or else UTF-8.
 * @throws UsageError for a file that is neither.
 */
export async function openTableFile({ name, bytes }: FileSource, options: ReadOptions): Promise<TableFile> {
  const { start, all } = await startOf(bytes);
  const encoding = options.encoding === undefined ? undefined : await encodingNamed(options.encoding);
  if (startsWith(start, ZIP)) {
    if (encoding !== undefined)
      throw new UsageError(`${name} is a spreadsheet.`, { hint: 'Omit --encoding.' });
    const { openSheet } = await import('./xlsx/sheet-file.ts');
    return openSheet(all, name, options.sheet ?? options.before?.sheet);
  }
  const mark = markOf(start);
  refuseOtherKinds(start, name);
  if (options.sheet !== undefined)
    throw new UsageError(`${name} is not an .xlsx file.`, {
      hint: 'Omit --sheet, which is for .xlsx files.',
    });
  const used = mark?.encoding ?? encoding ?? encodingBefore(start, options);
  if (!used.startsWith('utf-16') && start.includes(0)) throw await otherEncoding(name, used, start);
  return { kind: 'text', encoding: used, mark: mark?.length ?? 0, bytes: all, text: textOf(all, name, used) };
}

/**
 * Returns the encoding in which the file was read before. If that is UTF-16 but the file has no zero byte, it has since been saved
 * in another encoding.
 */
function encodingBefore(start: Uint8Array, { before }: ReadOptions): string {
  const encoding = before?.encoding ?? 'utf-8';
  return encoding.startsWith('utf-16') && !start.includes(0) ? 'utf-8' : encoding;
}

/** Returns the first bytes, and all bytes including these. */
async function startOf(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ start: Uint8Array; all: AsyncIterable<Uint8Array> }> {
  const source = bytes[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size < HEAD_BYTES) {
    const next = await source.next();
    if (next.done) break;
    chunks.push(next.value);
    size += next.value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* chunks.splice(0);
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  }
  return { start: Buffer.concat(chunks).subarray(0, HEAD_BYTES), all: all() };
}

function refuseOtherKinds(start: Uint8Array, name: string): void {
  if (startsWith(start, OLE))
    throw new UsageError(`${name} is encrypted, or a spreadsheet in the old .xls format.`, {
      hint: 'Remove the password, or save it as .xlsx. Nothing was sent.',
    });
  for (const [bytes, what] of OTHER_KINDS) {
    if (startsWith(start, bytes)) throw new UsageError(`${name} ${what}.`, { hint: HINT });
  }
}
