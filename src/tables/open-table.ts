import { UsageError } from '../kernel/errors.ts';
import { byteOrderMarkOf, type Decoder, decoderOf, encodingNamed, startsWithBytes } from './encodings.ts';
import { LineBreaks, withPlainBreaks } from './line-breaks.ts';
import type { JsonFile, TableFile } from './table-types.ts';

/** A file that the user named. */
export interface FileSource {
  /** As the user named it, for messages. */
  name: string;
  bytes: AsyncIterable<Uint8Array>;
}

/** How to read a file: the values of the flags `--encoding`, `--delimiter`, and `--sheet`. */
export interface ReadOptions {
  encoding?: string | undefined;
  /** The delimiter of CSV; detected from the header if it is undefined. */
  delimiter?: string | undefined;
  sheet?: string | undefined;
  /** How the file was read before. Used if neither flag is given and the file itself doesn't show it. */
  before?: { encoding: string; sheet?: string | undefined } | undefined;
  /** Whether the command has these flags, so that errors can suggest them. Default: true. */
  hasFlags?: boolean;
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
 * Opens a file according to its first bytes: a sheet of an .xlsx file, JSON, or CSV. The encoding of text is that of its byte order
 * mark, or else the one in the options, or else UTF-8.
 * @throws UsageError for any other file.
 */
export async function openTableFile(
  { name, bytes }: FileSource,
  options: ReadOptions,
): Promise<TableFile | JsonFile> {
  const { start, all } = await startOf(bytes);
  const named = options.encoding === undefined ? undefined : await encodingNamed(options.encoding);
  if (startsWithBytes(start, ZIP)) {
    if (named !== undefined) throw new UsageError(`${name} is a spreadsheet.`, { hint: 'Omit --encoding.' });
    const { openSheet } = await import('./xlsx/sheet-file.ts');
    return openSheet(all, name, options.sheet ?? options.before?.sheet);
  }
  refuseOtherKinds(start, name);
  if (options.sheet !== undefined)
    throw new UsageError(`${name} is not an .xlsx file.`, {
      hint: 'Omit --sheet, which is for .xlsx files.',
    });
  const mark = byteOrderMarkOf(start);
  const encoding = mark?.encoding ?? named ?? encodingBefore(start, options);
  if (!encoding.startsWith('utf-16') && wideEncoding(start) !== undefined)
    throw otherEncoding(name, encoding, start, options);
  const { csvRecords, dialectOf, peekFirstLine } = await import('./csv-records.ts');
  const { head, all: text } = await peekFirstLine(textOf(all, name, encoding, options));
  // A CSV header never starts with a brace or bracket.
  if (/^\s*[{[]/.test(head)) return { format: 'json', encoding, text };
  const dialect = dialectOf(head, options.delimiter);
  return {
    format: 'csv',
    encoding,
    delimiter: dialect.delimiter,
    records: () => csvRecords(text, dialect),
  };
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
  if (startsWithBytes(start, OLE))
    throw new UsageError(`${name} is encrypted, or a spreadsheet in the old .xls format.`, {
      hint: 'Remove the password, or save it as .xlsx. Nothing was sent.',
    });
  for (const [bytes, what] of OTHER_KINDS) {
    if (startsWithBytes(start, bytes)) throw new UsageError(`${name} ${what}.`, { hint: HINT });
  }
}

/** Single-byte encodings, in which text rarely looks like UTF-8 by chance. */
const SINGLE_BYTE = /^(?:windows-|iso-8859-|koi8-|macintosh|x-mac-|ibm866)/;

/** The character with which programs for DOS end a text file (Ctrl-Z). */
const DOS_END = '\u001a';

/**
 * Yields the text of a file as it is read, without its byte order mark and the end mark of DOS, and with uniform
 * line breaks.
 * @throws UsageError if it is in another encoding. The message names the line and the likely encoding.
 */
async function* textOf(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  encoding: string,
  options: ReadOptions,
): AsyncGenerator<string, void, undefined> {
  const decoder = await decoderOf(encoding);
  const utf8 = SINGLE_BYTE.test(encoding) ? new Utf8Check() : undefined;
  const breaks = new LineBreaks();
  const facts = { name, encoding, options };
  let line = 1;
  let held = '';
  for await (const chunk of bytes) {
    utf8?.add(chunk);
    const read = held + breaks.add(await decode(decoder, chunk, { ...facts, line }));
    held = read.endsWith(DOS_END) ? DOS_END : '';
    const text = read.slice(0, read.length - held.length);
    refuseNul(text, name, line);
    line += lineBreaksIn(text);
    if (text !== '') yield text;
  }
  const end = breaks.add(await decode(decoder, undefined, { ...facts, line })) + breaks.end();
  const rest = end === '' ? '' : held + end;
  if (utf8?.isUtf8())
    throw new UsageError(`${name} is UTF-8 text, not ${encoding}.`, {
      hint: options.hasFlags === false ? SAVE : OMIT,
    });
  if (rest !== '') yield rest;
}

function refuseNul(text: string, name: string, firstLine: number): void {
  const at = text.indexOf('\0');
  if (at === -1) return;
  const line = firstLine + lineBreaksIn(text.slice(0, at));
  throw new UsageError(`${name}:${line} contains a NUL character.`, {
    hint: 'Remove it, or export the file again. Nothing was sent.',
  });
}

const OMIT = 'Omit --encoding. Nothing was sent.';
const SAVE = 'Save it as "CSV UTF-8" in your spreadsheet program. Nothing was sent.';

/** Detects UTF-8 that is read as a single-byte encoding, which would turn ü into Ã¼. */
class Utf8Check {
  #decoder: Decoder | undefined = new TextDecoder('utf-8', { fatal: true });
  #hasOther = false;

  add(chunk: Uint8Array): void {
    this.#decode(chunk);
    this.#hasOther ||= chunk.some((byte) => byte > 0x7f);
  }

  /** Call it after the last chunk. */
  isUtf8(): boolean {
    this.#decode();
    return this.#hasOther && this.#decoder !== undefined;
  }

  /** Without a chunk, checks that the text doesn't end in the middle of a character. */
  #decode(chunk?: Uint8Array): void {
    try {
      this.#decoder?.decode(chunk, { stream: chunk !== undefined });
    } catch {
      this.#decoder = undefined;
    }
  }
}

async function decode(
  decoder: Decoder,
  chunk: Uint8Array | undefined,
  { name, encoding, line, options }: { name: string; encoding: string; line: number; options: ReadOptions },
): Promise<string> {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    const what = encoding === 'utf-8' ? 'UTF-8' : encoding;
    if (chunk === undefined)
      throw new UsageError(`${name}:${line} ends in the middle of a ${what} character.`, {
        hint: 'The file may be incomplete. Save or download it again.',
      });
    const readable = withPlainBreaks(new TextDecoder().decode(chunk));
    const at =
      encoding === 'utf-8'
        ? line + lineBreaksIn(readable.slice(0, Math.max(0, readable.indexOf('\ufffd'))))
        : line;
    throw otherEncoding(`${name}:${at}`, what, chunk, options);
  }
}

function otherEncoding(
  where: string,
  expected: string,
  bytes: Uint8Array,
  { hasFlags = true }: ReadOptions,
): UsageError {
  const wide = wideEncoding(bytes);
  if (wide !== undefined)
    return new UsageError(`${where} is not ${expected} text. It is probably ${wide}.`, {
      hint: hasFlags ? `Add --encoding ${wide}. Nothing was sent.` : SAVE,
    });
  return new UsageError(`${where} is not ${expected} text.`, {
    hint: hasFlags
      ? 'Save it as "CSV UTF-8" in your spreadsheet program, or pass its encoding, such as --encoding windows-1252 for Windows in Western Europe. Nothing was sent.'
      : SAVE,
  });
}

function lineBreaksIn(text: string): number {
  return text.split('\n').length - 1;
}

/**
 * Detects UTF-16 without a byte order mark, in which every second byte of ASCII text is zero. Every list has some ASCII text; single
 * zero bytes are damage.
 */
function wideEncoding(bytes: Uint8Array): string | undefined {
  let [even, odd] = [0, 0];
  for (const [index, byte] of bytes.entries()) {
    if (byte !== 0) continue;
    if (index % 2 === 0) even++;
    else odd++;
  }
  const most = Math.max(even, odd);
  if (most === 0 || most < bytes.length / 8) return undefined;
  return odd >= even ? 'utf-16le' : 'utf-16be';
}
