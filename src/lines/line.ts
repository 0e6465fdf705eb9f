import { crc32 } from 'node:zlib';
import { exactJsonText, tryParseExactJson } from '../kernel/text/exact-json.ts';

const TAIL = Buffer.from(',"crc":"01234567"}');
const TAIL_LENGTH = TAIL.length;
const DIGITS_AT = TAIL.indexOf('0');
const HEX = Buffer.from('0123456789abcdef');
const BRACE = Buffer.from('}');

/** Serializes an entry as a line of JSON. Its last member is the checksum of everything before it. */
export function writeLine(entry: unknown): string {
  const text = exactJsonText(entry);
  if (!text.startsWith('{') || text === '{}')
    throw new TypeError('A journal entry must be an object with at least one property.');
  return `${text.slice(0, -1)}${tailOf(crc32(text))}\n`;
}

/** Parses a line without its line break. Returns undefined if any byte has changed since it was written. */
export function readLine(line: Buffer): unknown {
  return isIntactLine(line) ? parseUpTo(line, line.length - TAIL_LENGTH) : undefined;
}

/** Returns true if no byte of a line (without its line break) has changed since it was written. */
export function isIntactLine(line: Buffer): boolean {
  const end = line.length - TAIL_LENGTH;
  return end >= 0 && hasTail(line, end, crc32(BRACE, crc32(line.subarray(0, end))));
}

/** Compares byte by byte. There may be a hundred thousand lines, and converting each to text takes longer than its checksum. */
function hasTail(line: Buffer, at: number, checksum: number): boolean {
  for (let index = 0; index < TAIL_LENGTH; index++) {
    const digit = index - DIGITS_AT;
    const isDigit = digit >= 0 && digit < 8;
    const expected = isDigit ? HEX[(checksum >>> (28 - 4 * digit)) & 15] : TAIL[index];
    if (line[at + index] !== expected) return false;
  }
  return true;
}

/** Parses the members of a line up to the comma at `end`. */
export function parseUpTo(line: Buffer, end: number): unknown {
  return tryParseExactJson(`${line.toString('utf8', 0, end)}}`);
}

/** Parses the value of a line's last member before the checksum. The value begins at `start`. Returns undefined if it is not JSON. */
export function readMember(line: Buffer, start: number): unknown {
  return tryParseExactJson(line.toString('utf8', start, line.length - TAIL_LENGTH));
}

function tailOf(checksum: number): string {
  return `,"crc":"${checksum.toString(16).padStart(8, '0')}"}`;
}
