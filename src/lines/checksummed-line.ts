import { crc32 } from 'node:zlib';
import { tryParseJson } from '../kernel/json.ts';
import { exactJsonText, tryParseExactJson } from '../kernel/text/exact-json.ts';

const TAIL = Buffer.from(',"crc":"01234567"}');
const TAIL_LENGTH = TAIL.length;
const DIGITS_AT = TAIL.indexOf('0');
const HEX = Buffer.from('0123456789abcdef');
const BRACE = Buffer.from('}');

/** Serializes an entry as a line of JSON. Its last member is the checksum of everything before it. */
export function writeLine(entry: unknown): string {
  return checksummedLine(entry).line;
}

/** Serializes an entry as writeLine does, and returns the checksum, too. */
export function checksummedLine(entry: unknown): { line: string; checksum: number } {
  const text = exactJsonText(entry);
  if (!text.startsWith('{') || text === '{}')
    throw new TypeError('A journal entry must be an object with at least one property.');
  const checksum = crc32(text);
  return { line: `${text.slice(0, -1)}${tailOf(checksum)}\n`, checksum };
}

/** Parses a line without its line break. Returns undefined if any byte has changed since it was written. */
export function readLine(line: Buffer): unknown {
  if (checksumOf(line) === undefined) return undefined;
  return tryParseExactJson(`${line.toString('utf8', 0, line.length - TAIL_LENGTH)}}`);
}

/** Returns the checksum of a line without its line break; undefined if any byte of it has changed since it was written. */
export function checksumOf(line: Buffer): number | undefined {
  const end = line.length - TAIL_LENGTH;
  if (end < 0) return undefined;
  const checksum = crc32(BRACE, crc32(line.subarray(0, end)));
  return hasChecksum(line, checksum) ? checksum : undefined;
}

/**
 * Returns true if a line was written with this checksum, without computing it again. Compares byte by byte: there may be a hundred
 * thousand lines, and converting each to text takes longer than its checksum.
 */
export function hasChecksum(line: Buffer, checksum: number): boolean {
  const at = line.length - TAIL_LENGTH;
  for (let index = 0; index < TAIL_LENGTH; index++) {
    const digit = index - DIGITS_AT;
    const isDigit = digit >= 0 && digit < 8;
    const expected = isDigit ? HEX[(checksum >>> (28 - 4 * digit)) & 15] : TAIL[index];
    if (line[at + index] !== expected) return false;
  }
  return true;
}

/** Parses the members of a line up to the comma at `end`, whose numbers JavaScript can hold. */
export function readMembers(line: Buffer, end: number): unknown {
  return tryParseJson(`${line.toString('utf8', 0, end)}}`);
}

/** Parses the value of a line's last member before the checksum. The value begins at `start`. Returns undefined if it is not JSON. */
export function readMember(line: Buffer, start: number): unknown {
  return tryParseExactJson(line.toString('utf8', start, line.length - TAIL_LENGTH));
}

function tailOf(checksum: number): string {
  return `,"crc":"${checksum.toString(16).padStart(8, '0')}"}`;
}
