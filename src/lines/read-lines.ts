import { isDiskError } from '../kernel/files/disk-reason.ts';
import { openRegularFile, roomForLine } from '../kernel/files/regular-file.ts';
import { notReadableError } from './failures.ts';

/** A complete line without its line break, with the byte offset of the next line. */
export interface JournalLine {
  bytes: Buffer;
  end: number;
}

/** The number of bytes per read, unless the caller says otherwise. */
const ROOM = 1024 * 1024;
const BREAK = 10;

/**
 * Yields the complete lines of a journal from an offset. A last line without its line break is skipped. A missing file has no lines.
 * @throws UsageError if the file can't be read.
 */
export async function* linesOf(path: string, from = 0): AsyncGenerator<JournalLine, void, undefined> {
  let end = from;
  try {
    for await (const block of blocksOf(path, { from })) {
      const lines: JournalLine[] = [];
      end = cut(Buffer.from(block), end, (bytes, _, next) => lines.push({ bytes, end: next }));
      yield* lines;
    }
  } catch (error) {
    throw isDiskError(error) ? notReadableError(path, error) : error;
  }
}

/** Called with a line without its line break, and its position. The bytes are only valid until it returns. */
export type TakeLine = (bytes: Buffer, start: number, end: number) => void;

/**
 * Calls `take` with the same lines, which is faster for large files.
 * @throws the system's error if the file can't be read.
 */
export async function eachLine(path: string, from: number, take: TakeLine): Promise<void> {
  let end = from;
  for await (const block of blocksOf(path, { from })) end = cut(block, end, take);
}

/** Calls `take` with each line of a block that begins at the offset `from`, and returns the offset at which the last one ends. */
export function cut(block: Buffer, from: number, take: TakeLine): number {
  let start = 0;
  for (let at = block.indexOf(BREAK); at !== -1; at = block.indexOf(BREAK, start)) {
    take(block.subarray(start, at), from + start, from + at + 1);
    start = at + 1;
  }
  return from + start;
}

interface BlockOptions {
  /** The offset at which the first line begins. */
  from?: number;
  /** The number of bytes per read. */
  roomBytes?: number;
  /** Also yields what follows the last line break. */
  withRest?: boolean;
}

/** Yields blocks of complete lines. A block is only valid until the next one. A missing file has none. */
export async function* blocksOf(
  path: string,
  { from = 0, roomBytes = ROOM, withRest = false }: BlockOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const file = await openRegularFile(path);
  if (file === undefined) return;
  try {
    let room = Buffer.allocUnsafe(roomBytes);
    let kept = 0;
    for (let position = from; ; ) {
      const { bytesRead } = await file.read(room, kept, room.length - kept, position);
      if (bytesRead === 0) {
        if (withRest && kept > 0) yield room.subarray(0, kept);
        return;
      }
      position += bytesRead;
      const filled = kept + bytesRead;
      const end = room.subarray(0, filled).lastIndexOf(BREAK) + 1;
      if (end > 0) yield room.subarray(0, end);
      room.copyWithin(0, end, filled);
      kept = filled - end;
      if (kept === room.length) room = roomForLine(room);
    }
  } finally {
    await file.close();
  }
}
