import { readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { unreadable } from './asn1.ts';

/*
 * Finds signatures in a PDF by bytes alone. Nothing of the file's structure is read, because readers differ in how they read it, and a
 * forger chooses what they see. Instead, every byte range in the file must be one that a signer would have written.
 */

/** A signature in a file: it covers all bytes from the start to `end`, except for the gap that holds it. */
export interface SignatureRange {
  /** The offset of its /ByteRange. */
  at: number;
  gapStart: number;
  gapEnd: number;
  end: number;
}

const WORD = '/ByteRange';
const CONTENTS = '/Contents';
/** White space in PDF (ISO 32000-1, 7.2.2). */
const SPACE: ReadonlySet<number> = new Set([0x00, 0x09, 0x0a, 0x0c, 0x0d, 0x20]);
const OPEN_BRACKET = 0x5b;
/** The bytes read at a time for white space, and the longest text of a byte range. */
const WINDOW_BYTES = 4 * 1024;
const MAX_SIGNATURES = 50;
/** The longest signature in a file, in hexadecimal digits. */
const MAX_GAP_BYTES = 4 * 1024 * 1024;

/**
 * Returns the signatures in an open file, in the order of their ends. Text that only mentions /ByteRange is not a signature.
 * @throws UnreadableSignatureError if a byte range isn't what a signer writes, or if two overlap: an author could plant a second one, to
 * which the signature is moved later.
 */
export async function signatureRangesIn(file: number, size: number): Promise<SignatureRange[]> {
  const ranges: SignatureRange[] = [];
  for await (const place of mentionsIn(file, size)) {
    const bracket = afterSpace(file, place + WORD.length);
    if (readBytes(file, bracket, 1)[0] !== OPEN_BRACKET) continue;
    if (ranges.length === MAX_SIGNATURES) throw unreadable('the file has too many signatures');
    ranges.push(rangeAt(file, place, bracket + 1, size));
  }
  ranges.sort((a, b) => a.end - b.end);
  for (const [index, { at, gapStart }] of ranges.entries()) {
    const before = ranges[index - 1]?.end ?? 0;
    if (at < before || gapStart < before) throw unreadable('its byte range overlaps another one in the file');
  }
  return ranges;
}

/** The bytes that are searched at a time. Reading them takes less time than handing the read to another thread. */
const BLOCK_BYTES = 256 * 1024;
/** How much is searched before other work of the process gets a turn. */
const TURN_BYTES = 64 * BLOCK_BYTES;

/** Yields the offsets of the word in the file. */
async function* mentionsIn(file: number, size: number): AsyncGenerator<number, void, undefined> {
  for (let start = 0; start < size; start += BLOCK_BYTES) {
    if (start > 0 && start % TURN_BYTES === 0) await setImmediate();
    // The word may begin in one block and end in the next.
    const text = readBytes(file, start, Math.min(BLOCK_BYTES + WORD.length - 1, size - start));
    for (let at = text.indexOf(WORD, 0, 'latin1'); at >= 0; at = text.indexOf(WORD, at + 1, 'latin1'))
      yield start + at;
  }
}

function rangeAt(file: number, at: number, from: number, size: number): SignatureRange {
  const text = readBytes(file, from, WINDOW_BYTES).toString('latin1');
  const numbers =
    /^[\0\t\n\f\r ]*0+[\0\t\n\f\r ]+(\d+)[\0\t\n\f\r ]+(\d+)[\0\t\n\f\r ]+(\d+)[\0\t\n\f\r ]*\]/.exec(text);
  const [gapStart = 0, gapEnd = 0, length = 0] = (numbers ?? []).slice(1).map(Number);
  const end = gapEnd + length;
  if (numbers === null || gapStart <= 0 || gapEnd <= gapStart || end > size)
    throw unreadable('its byte range does not cover the file from its start, with one gap');
  requireSignatureIn(file, gapStart, gapEnd);
  return { at, gapStart, gapEnd, end };
}

/** @throws UnreadableSignatureError unless a gap holds exactly one hexadecimal string, which is the value of /Contents. */
function requireSignatureIn(file: number, gapStart: number, gapEnd: number): void {
  const problem = () => unreadable('its byte range leaves out more than the signature');
  const digits = gapEnd - gapStart - 2;
  if (digits < 2 || digits % 2 !== 0) throw problem();
  if (digits > MAX_GAP_BYTES) throw unreadable('it is too long');
  if (!/^<[0-9A-Fa-f]*>$/.test(readBytes(file, gapStart, digits + 2).toString('latin1'))) throw problem();
  const word = beforeSpace(file, gapStart) - CONTENTS.length;
  if (word < 0 || readBytes(file, word, CONTENTS.length).toString('latin1') !== CONTENTS) throw problem();
}

/** Returns the bytes of the signature in a gap. */
export function signatureIn(file: number, { gapStart, gapEnd }: SignatureRange): Buffer {
  return Buffer.from(readBytes(file, gapStart + 1, gapEnd - gapStart - 2).toString('latin1'), 'hex');
}

/** Returns the offset of the first byte from `at` on that is not white space. */
function afterSpace(file: number, at: number): number {
  for (;;) {
    const window = readBytes(file, at, WINDOW_BYTES);
    const found = window.findIndex((byte) => !SPACE.has(byte));
    if (found >= 0) return at + found;
    if (window.length === 0) return at;
    at += window.length;
  }
}

/** Returns the offset after the last byte before `at` that is not white space. */
function beforeSpace(file: number, at: number): number {
  for (;;) {
    const start = Math.max(0, at - WINDOW_BYTES);
    const found = readBytes(file, start, at - start).findLastIndex((byte) => !SPACE.has(byte));
    if (found >= 0) return start + found + 1;
    if (start === 0) return 0;
    at = start;
  }
}

/** Reads bytes of an open file; fewer at its end. */
export function readBytes(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  for (let read = -1; read !== 0 && done < length; done += read)
    read = readSync(file, bytes, done, length - done, at + done);
  return bytes.subarray(0, done);
}
