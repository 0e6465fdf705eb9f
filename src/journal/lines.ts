import { type FileHandle, open } from 'node:fs/promises';
import { codeOf } from '../kernel/errors.ts';

/** A whole line without its line break, and the offset in bytes where the next one starts. */
export interface JournalLine {
  bytes: Buffer;
  end: number;
}

/** Bytes per read. */
const ROOM = 1024 * 1024;
const BREAK = 10;

/** The whole lines of a file from an offset on; a last line without its line break is not there yet. Missing file: none. */
export async function* linesOf(path: string, from = 0): AsyncGenerator<JournalLine, void, undefined> {
  let end = from;
  for await (const block of blocksOf(path, from)) {
    const lines: JournalLine[] = [];
    end = cut(Buffer.from(block), end, (line) => lines.push(line));
    yield* lines;
  }
}

/** Hands over the same lines, faster where there are many; the bytes of one are only valid until `take` returns. */
export async function eachLine(path: string, from: number, take: (line: JournalLine) => void): Promise<void> {
  let end = from;
  for await (const block of blocksOf(path, from)) end = cut(block, end, take);
}

/** Where the last of the lines ends. */
function cut(block: Buffer, from: number, take: (line: JournalLine) => void): number {
  let start = 0;
  for (let at = block.indexOf(BREAK); at !== -1; at = block.indexOf(BREAK, start)) {
    take({ bytes: block.subarray(start, at), end: from + at + 1 });
    start = at + 1;
  }
  return from + start;
}

/** Blocks of whole lines, each only valid until the next one. */
async function* blocksOf(path: string, from: number): AsyncGenerator<Buffer, void, undefined> {
  const file = await openIfThere(path);
  if (file === undefined) return;
  try {
    let room = Buffer.allocUnsafe(ROOM);
    let kept = 0;
    for (let position = from; ; ) {
      const { bytesRead } = await file.read(room, kept, room.length - kept, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      const filled = kept + bytesRead;
      const end = room.subarray(0, filled).lastIndexOf(BREAK) + 1;
      if (end > 0) yield room.subarray(0, end);
      room.copyWithin(0, end, filled);
      kept = filled - end;
      // A line is longer than the room.
      if (kept === room.length) room = Buffer.concat([room], room.length * 2);
    }
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
