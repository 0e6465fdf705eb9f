const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** How many bytes show whether text without a byte order mark is UTF-16. */
const SAMPLE = 64;

/**
 * Returns the text of a file in UTF-8 without a byte order mark. Windows programs also write UTF-16, with or without a mark.
 * @throws TypeError for UTF-16 with half a character.
 */
export function toUtf8(bytes: Buffer): Buffer {
  const encoding = utf16Of(bytes);
  if (encoding !== undefined) return Buffer.from(new TextDecoder(encoding, { fatal: true }).decode(bytes));
  return bytes.subarray(0, 3).equals(UTF8_MARK) ? bytes.subarray(3) : bytes;
}

function utf16Of(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes.length < 2 || bytes.length % 2 === 1) return undefined;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const sample = [...bytes.subarray(0, SAMPLE)];
  // The second byte of each ASCII character is zero.
  const isAscii = (offset: number) => sample.every((byte, at) => (byte === 0) === (at % 2 === offset));
  if (isAscii(1)) return 'utf-16le';
  return isAscii(0) ? 'utf-16be' : undefined;
}
