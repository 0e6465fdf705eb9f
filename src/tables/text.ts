import { UsageError } from '../kernel/errors.ts';
import { type Decoder, decoderOf } from './encodings.ts';
import { likelyEncoding } from './likely-encoding.ts';

/** Single-byte encodings, in which text rarely looks like UTF-8 by chance. */
const SINGLE_BYTE = /^(?:windows-|iso-8859-|koi8-|macintosh|x-mac-|ibm866)/;

/**
 * Yields the text of a file as it is read, without its byte order mark and with uniform line breaks.
 * @throws UsageError if it is in another encoding. The message names the line and the likely encoding.
 */
export async function* textOf(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  encoding: string,
): AsyncGenerator<string, void, undefined> {
  const decoder = await decoderOf(encoding);
  const utf8 = SINGLE_BYTE.test(encoding) ? new Utf8Check() : undefined;
  let line = 1;
  let heldReturn = '';
  for await (const chunk of bytes) {
    utf8?.add(chunk);
    const decoded = heldReturn + (await decode(decoder, chunk, { name, encoding, line }));
    // A carriage return at the end of a chunk may be the first half of a line break.
    heldReturn = decoded.endsWith('\r') ? '\r' : '';
    const text = withPlainBreaks(decoded.slice(0, decoded.length - heldReturn.length));
    line += countOf(text, '\n');
    if (text !== '') yield text;
  }
  const rest = await decode(decoder, undefined, { name, encoding, line });
  if (utf8?.isUtf8()) throw new UsageError(`${name} is UTF-8 text, not ${encoding}.`, { hint: OMIT });
  if (heldReturn + rest !== '') yield withPlainBreaks(`${heldReturn}${rest}`);
}

const OMIT = 'Omit --encoding. Nothing was sent.';

/** Returns the text with uniform line breaks. */
export function withPlainBreaks(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** Detects UTF-8 that is read as a single-byte encoding, which would turn ü into Ã¼. */
class Utf8Check {
  #decoder: Decoder | undefined = new TextDecoder('utf-8', { fatal: true });
  #hasOther = false;

  add(chunk: Uint8Array): void {
    try {
      this.#decoder?.decode(chunk, { stream: true });
    } catch {
      this.#decoder = undefined;
    }
    this.#hasOther ||= chunk.some((byte) => byte > 0x7f);
  }

  isUtf8(): boolean {
    return this.#hasOther && this.#decoder !== undefined;
  }
}

async function decode(
  decoder: Decoder,
  chunk: Uint8Array | undefined,
  { name, encoding, line }: { name: string; encoding: string; line: number },
): Promise<string> {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    const what = encoding === 'utf-8' ? 'UTF-8' : encoding;
    if (chunk === undefined)
      throw new UsageError(`${name}:${line} ends within a ${what} character.`, {
        hint: 'The file may be incomplete. Save or download it again.',
      });
    const readable = withPlainBreaks(new TextDecoder().decode(chunk));
    const at =
      encoding === 'utf-8'
        ? line + countOf(readable.slice(0, Math.max(0, readable.indexOf('\ufffd'))), '\n')
        : line;
    throw await otherEncoding(`${name}:${at}`, what, chunk);
  }
}

/** Returns the error for a file in another encoding than `expected`. */
export async function otherEncoding(where: string, expected: string, bytes: Uint8Array): Promise<UsageError> {
  const likely = await likelyEncoding(bytes);
  if (likely === expected.toLowerCase())
    return new UsageError(`${where} is not ${expected} text.`, {
      hint: 'Name the encoding of the file with --encoding. Nothing was sent.',
    });
  return new UsageError(`${where} is not ${expected} text. It is probably ${likely}.`, {
    hint: `Add --encoding ${likely}, or save the file as "CSV UTF-8" in your spreadsheet program. Nothing was sent.`,
  });
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++;
  return count;
}
