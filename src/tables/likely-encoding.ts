import { decoderOf } from './encodings.ts';

/** Cyrillic words: in windows-1251, capital letters are C0–DF, and small letters are E0–FF. */
const CYRILLIC_WORD = /^[\xc0-\xdf\xa8]?[\xe0-\xff\xb8]{2,}$|^[\xc0-\xdf\xa8]{3,}$/;
/** Small letters in Mac OS Roman that would be punctuation or capital letters inside a word in windows-1252. */
const MAC_LETTER = /[A-Za-z][\x87-\x90\x9f][a-z]/;
/** East Asian encodings in the order in which they are tried, and the scripts used in them. */
const EAST_ASIAN: readonly (readonly [string, RegExp])[] = [
  ['shift_jis', /^(?:\p{Script=Han}|[\u3000-\u30ff\uff01-\uff60])+$/u],
  ['euc-kr', /^[\u3000-\u303f\uac00-\ud7a3]+$/u],
  ['gb18030', /^(?:\p{Script=Han}|[\u2010-\u2026\u3000-\u303f\uff01-\uff60])+$/u],
  ['big5', /^(?:\p{Script=Han}|[\u2010-\u2026\u3000-\u303f\uff01-\uff60])+$/u],
];

/** Guesses the encoding of bytes that are not UTF-8 from typical text in the languages that use it. */
export async function likelyEncoding(bytes: Uint8Array): Promise<string> {
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return wide;
  const text = Buffer.from(bytes).toString('latin1');
  const runs = text.match(/[\x80-\xff]+/g) ?? [];
  if (runs.filter((run) => CYRILLIC_WORD.test(run)).length > runs.length * 0.8) return 'windows-1251';
  for (const [encoding, script] of EAST_ASIAN) {
    if (await looksEastAsian(bytes, encoding, script)) return encoding;
  }
  return MAC_LETTER.test(text) ? 'macintosh' : 'windows-1252';
}

/** Detects UTF-16 without a byte order mark, in which every second byte of ASCII text is zero. */
function wideEncoding(bytes: Uint8Array): string | undefined {
  let [even, odd] = [0, 0];
  for (const [index, byte] of bytes.entries()) {
    if (byte !== 0) continue;
    if (index % 2 === 0) even++;
    else odd++;
  }
  if (even + odd === 0) return undefined;
  return odd >= even ? 'utf-16le' : 'utf-16be';
}

/**
 * Returns true if all non-ASCII text is in the script, and none of it is next to an ASCII letter, as accented letters would be.
 */
async function looksEastAsian(bytes: Uint8Array, encoding: string, script: RegExp): Promise<boolean> {
  try {
    // The last character may be cut off.
    const text = (await decoderOf(encoding)).decode(bytes, { stream: true });
    const words = text.match(/[^\x00-\x7f]+/g) ?? [];
    return (
      words.length > 0 &&
      words.every((word) => script.test(word)) &&
      !/[a-z][^\x00-\x7f]|[^\x00-\x7f][a-z]/i.test(text)
    );
  } catch {
    return false;
  }
}
