import { readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { unreadableError } from './asn1.ts';
import { BYTE_RANGE } from './signature-search.ts';

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

const CONTENTS = '/Contents';
/** White space in PDF (ISO 32000-1, 7.2.2). */
const SPACE: ReadonlySet<number | undefined> = new Set([0x00, 0x09, 0x0a, 0x0c, 0x0d, 0x20]);
const OPEN_BRACKET = 0x5b;
/**
 * The bytes read at a time, after which other work of the process gets a turn. Reading them takes less time than handing the read to
 * another thread.
 */
const BLOCK_BYTES = 256 * 1024;
/** The longest text of a byte range. */
const MAX_RANGE_BYTES = 4 * 1024;
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
  for await (const { at, from } of hitsIn(file, size)) {
    if (ranges.length === MAX_SIGNATURES) throw unreadableError('the file has too many signatures');
    ranges.push(rangeAt(file, at, from, size));
  }
  ranges.sort((a, b) => a.end - b.end);
  requireSeparate(ranges);
  // Only now, because many byte ranges could name the same gap.
  for (const range of ranges) {
    await setImmediate();
    await requireSignatureIn(file, range);
  }
  return ranges;
}

function requireSeparate(ranges: readonly SignatureRange[]): void {
  for (const [index, { at, gapStart }] of ranges.entries()) {
    const before = ranges[index - 1]?.end ?? 0;
    if (at < before || gapStart < before)
      throw unreadableError('its byte range overlaps another one in the file');
  }
}

/** A byte range: the offset of its word, and the offset after its bracket. */
interface Hit {
  at: number;
  from: number;
}

async function* hitsIn(file: number, size: number): AsyncGenerator<Hit, void, undefined> {
  for (let start = 0; start < size; start += BLOCK_BYTES) {
    if (start > 0) await setImmediate();
    // The word may begin in one block and end in the next.
    const block = readBytes(file, start, Math.min(BLOCK_BYTES + BYTE_RANGE.length - 1, size - start));
    for (
      let at = block.indexOf(BYTE_RANGE, 0, 'latin1');
      at >= 0;
      at = block.indexOf(BYTE_RANGE, at + 1, 'latin1')
    ) {
      const next = afterSpace(block, at + BYTE_RANGE.length);
      // Most mentions are decided by the bytes that were read.
      if (next < block.length) {
        if (block[next] === OPEN_BRACKET) yield { at: start + at, from: start + next + 1 };
        continue;
      }
      const from = await skipToBracket(file, start + next);
      if (from !== undefined) yield { at: start + at, from };
    }
  }
}

function rangeAt(file: number, at: number, from: number, size: number): SignatureRange {
  const text = readBytes(file, from, MAX_RANGE_BYTES).toString('latin1');
  const numbers =
    /^[\0\t\n\f\r ]*0+[\0\t\n\f\r ]+(\d+)[\0\t\n\f\r ]+(\d+)[\0\t\n\f\r ]+(\d+)[\0\t\n\f\r ]*\]/.exec(text);
  const [gapStart = 0, gapEnd = 0, length = 0] = (numbers ?? []).slice(1).map(Number);
  const end = gapEnd + length;
  if (numbers === null || gapStart <= 0 || gapEnd <= gapStart || end > size)
    throw unreadableError('its byte range does not cover the file from its start, with one gap');
  return { at, gapStart, gapEnd, end };
}

/** @throws UnreadableSignatureError unless a gap holds exactly one hexadecimal string, which is the value of /Contents. */
async function requireSignatureIn(file: number, { gapStart, gapEnd }: SignatureRange): Promise<void> {
  const problem = () => unreadableError('its byte range leaves out more than the signature');
  const digits = gapEnd - gapStart - 2;
  if (digits < 2 || digits % 2 !== 0) throw problem();
  if (digits > MAX_GAP_BYTES) throw unreadableError('it is too long');
  if (!/^<[0-9A-Fa-f]*>$/.test(readBytes(file, gapStart, digits + 2).toString('latin1'))) throw problem();
  const word = (await beforeSpace(file, gapStart)) - CONTENTS.length;
  if (word < 0 || readBytes(file, word, CONTENTS.length).toString('latin1') !== CONTENTS) throw problem();
}

/** Returns the bytes of the signature in a gap. */
export function signatureIn(file: number, { gapStart, gapEnd }: SignatureRange): Buffer {
  return Buffer.from(readBytes(file, gapStart + 1, gapEnd - gapStart - 2).toString('latin1'), 'hex');
}

/** Returns the offset after the white space at `at`. */
function afterSpace(bytes: Buffer, at: number): number {
  while (SPACE.has(bytes[at])) at++;
  return at;
}

/** Returns the offset after white space and a bracket at `at`; undefined if something else follows. */
async function skipToBracket(file: number, at: number): Promise<number | undefined> {
  for (;;) {
    const block = readBytes(file, at, BLOCK_BYTES);
    const next = afterSpace(block, 0);
    if (next < block.length || next === 0) return block[next] === OPEN_BRACKET ? at + next + 1 : undefined;
    at += next;
    await setImmediate();
  }
}

/** Returns the offset after the last byte before `at` that is not white space. */
async function beforeSpace(file: number, at: number): Promise<number> {
  while (at > 0) {
    const start = Math.max(0, at - BLOCK_BYTES);
    const block = readBytes(file, start, at - start);
    let end = block.length;
    while (SPACE.has(block[end - 1])) end--;
    if (end > 0) return start + end;
    at = start;
    await setImmediate();
  }
  return 0;
}

/** Reads bytes of an open file; fewer at its end. */
export function readBytes(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  for (let read = -1; read !== 0 && done < length; done += read)
    read = readSync(file, bytes, done, length - done, at + done);
  return bytes.subarray(0, done);
}
