import { UsageError } from '../../kernel/errors.ts';
import { type Decoder, decoderOf } from '../encodings.ts';

/** Encodings whose characters can contain the bytes of delimiters and quotes. */
const NOT_REWRITABLE = ['iso-2022-jp', 'x-user-defined'];
/** Encodings in which the second byte of a character can be a bar. */
const MULTI_BYTE = ['shift_jis', 'gbk', 'gb18030', 'big5', 'euc-kr', 'euc-jp'];

/**
 * The bytes of a text as a string with one character for each code unit, which is one byte, or two bytes in UTF-16. Such a string
 * can be split and joined without changing a byte, even if the bytes are not valid.
 */
export interface CodeUnits {
  /** Converts bytes as they are read. Chunks may end anywhere. */
  fromBytes(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined>;
  toBytes(units: string): Buffer;
  decode(units: string): string;
  /** Returns the code units of a text. Characters that the encoding lacks are replaced. */
  encode(text: string): string;
  /** Returns the number of replaced characters. */
  replaced(): number;
}

/** @throws UsageError for an encoding that can't be rewritten byte for byte. */
export async function codeUnitsOf(encoding: string, delimiter: string): Promise<CodeUnits> {
  if (NOT_REWRITABLE.includes(encoding) || (delimiter === '|' && MULTI_BYTE.includes(encoding)))
    throw new UsageError(
      `A file in ${encoding}${delimiter === '|' ? ', delimited by |,' : ''} can't be written back.`,
      {
        hint: 'Save it as "CSV UTF-8" in your spreadsheet program.',
      },
    );
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return wideUnits(encoding === 'utf-16be');
  const encoder = await encoderOf(encoding);
  const decoder: Decoder =
    encoding === 'utf-8' ? new TextDecoder('utf-8', { ignoreBOM: true }) : await decoderOf(encoding);
  return {
    async *fromBytes(bytes) {
      for await (const chunk of bytes) yield Buffer.from(chunk).toString('latin1');
    },
    toBytes: (units) => Buffer.from(units, 'latin1'),
    decode: (units) => (isAscii(units) ? units : decoder.decode(Buffer.from(units, 'latin1'))),
    encode: (text) => (isAscii(text) ? text : Buffer.from(encoder.encode(text)).toString('latin1')),
    replaced: () => encoder.replaced,
  };
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

function wideUnits(isBigEndian: boolean): CodeUnits {
  const swapped = (bytes: Buffer) => (isBigEndian ? bytes.swap16() : bytes);
  return {
    async *fromBytes(bytes) {
      let rest = Buffer.alloc(0);
      for await (const chunk of bytes) {
        const all = Buffer.concat([rest, chunk]);
        const even = all.length - (all.length % 2);
        rest = all.subarray(even);
        yield swapped(Buffer.from(all.subarray(0, even))).toString('utf16le');
      }
    },
    toBytes: (units) => swapped(Buffer.from(units, 'utf16le')),
    decode: (units) => units,
    encode: (text) => text,
    replaced: () => 0,
  };
}

interface Encoder {
  encode(text: string): Uint8Array;
  replaced: number;
}

async function encoderOf(encoding: string): Promise<Encoder> {
  if (encoding === 'utf-8') return { encode: (text) => Buffer.from(text), replaced: 0 };
  const encode = MULTI_BYTE.includes(encoding)
    ? (await import('@exodus/bytes/multi-byte.js')).createMultibyteEncoder(encoding)
    : (await import('@exodus/bytes/single-byte.js')).createSinglebyteEncoder(encoding);
  const encoder: Encoder = { encode: (text) => Buffer.concat([...text].map(oneCharacter)), replaced: 0 };
  return encoder;

  /** Encodes a character. If the encoding lacks it, ř becomes r, and 日 becomes a question mark. */
  function oneCharacter(character: string): Uint8Array {
    for (const text of [character, character.normalize('NFKD').replaceAll(/\p{M}/gu, '')]) {
      try {
        const bytes = encode(text);
        if (text !== character) encoder.replaced++;
        return bytes;
      } catch {
        // The encoding may have the next form.
      }
    }
    encoder.replaced++;
    return Buffer.from('?');
  }
}
