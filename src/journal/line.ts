import { crc32 } from 'node:zlib';
import { parseJson } from '../kernel/json.ts';

/** `,"crc":"01234567"}` */
const TAIL = /,"crc":"([0-9a-f]{8})"\}$/;
const TAIL_LENGTH = 18;

/** One entry as a line of JSON whose last member is the checksum of all before it. */
export function writeLine(entry: unknown): string {
  const text = JSON.stringify(entry);
  if (!text.startsWith('{') || text === '{}')
    throw new TypeError('An entry of a journal is an object with members.');
  return `${text.slice(0, -1)},"crc":"${checksum(text)}"}\n`;
}

/** The entry of a line, or undefined when a byte of it is not as written. */
export function readLine(line: string): unknown {
  const crc = TAIL.exec(line)?.[1];
  if (crc === undefined) return undefined;
  const text = `${line.slice(0, -TAIL_LENGTH)}}`;
  if (checksum(text) !== crc) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
